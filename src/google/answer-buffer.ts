/** A share of its length that is free behind an answer: the next one may be a little longer. */
const spareShare = 0.25;

/**
 * Memory for an answer of megabytes that is asked for again and again. New memory for each is what makes the engine collect garbage, which
 * with many rows costs more than to read the answer.
 */
export class AnswerBuffer {
  #memory: Buffer = Buffer.alloc(0);
  #length = 0;

  /** Begins with these bytes. What was taken from it before is void. */
  begin(bytes: Buffer): void {
    this.#length = 0;
    this.add(bytes);
  }

  add(bytes: Buffer): void {
    const length = this.#length + bytes.length;
    if (length > this.#memory.length) {
      const memory = Buffer.allocUnsafe(Math.ceil(length * (1 + spareShare)));
      this.#memory.copy(memory, 0, 0, this.#length);
      this.#memory = memory;
    }
    bytes.copy(this.#memory, this.#length);
    this.#length = length;
  }

  /** All bytes, until it begins anew. */
  get bytes(): Buffer {
    return this.#memory.subarray(0, this.#length);
  }
}
