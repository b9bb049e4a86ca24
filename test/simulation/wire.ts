/** A request on its way: it has not arrived yet, or it was carried out and its answer is on the way back. */
interface Flight {
  readonly label: string;
  isServed: boolean;
  readonly serve: () => void;
  readonly answer: () => void;
  /** Tells the sender that no answer will come. */
  readonly lose: () => void;
}

const isWrite = ({ label }: Flight): boolean =>
  /^(POST|PUT|DELETE|sheet (write|mark)|warehouse write)/.test(label);

interface LateFlight extends Flight {
  /** Epoch ms. */
  readonly givenUpAt: number;
}

/** How long after it was given up a request to the CRM may still be carried out: for as long the daemon's budget expects it. */
export const lateToCrmMs = 5_000;

/**
 * The same for every request: less than the daemon waits before it concludes anything. What is asked of the database ends with its connection, or
 * holds up who asks what became of it.
 */
const lateMs = (label: string): number =>
  label.startsWith('sheet') ? 150_000 : label.startsWith('warehouse') ? -1 : lateToCrmMs;

const isTooLate = ({ givenUpAt, label }: LateFlight, now: number): boolean =>
  Math.abs(now - givenUpAt) > lateMs(label);

/** Holds every request of every port until the simulation lets it go on: nothing resolves by itself. */
export class Wire {
  #flights: Flight[] = [];
  #late: LateFlight[] = [];

  get size(): number {
    return this.#flights.length;
  }

  get labels(): readonly string[] {
    return this.#flights.map(({ label }) => label);
  }

  /**
   * Sends a request. `work` is done when it arrives; its result, or what it throws, comes back when the answer does. `lost` is what the
   * sender sees of an answer that never comes; without it, it waits for ever.
   */
  send<Answer>(label: string, work: () => Answer, lost?: () => Answer): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const settle = (make: () => Answer) => {
      try {
        resolve(make());
      } catch (error) {
        reject(error);
      }
    };
    let answer = () => reject(new Error(`${label} was answered before it was served.`));
    const flight: Flight = {
      label,
      isServed: false,
      serve() {
        try {
          const result = work();
          answer = () => resolve(result);
        } catch (error) {
          answer = () => reject(error);
        }
      },
      answer: () => answer(),
      lose: () => {
        if (lost) settle(lost);
      },
    };
    this.#flights.push(flight);
    return promise;
  }

  /** Lets one request arrive, and its answer too where the trip is whole. Answers what was let go on. */
  advance(which: number, isWholeTrip: boolean): string {
    const flight = this.#pick(which);
    if (!flight) return 'nothing';
    const wasServed = flight.isServed;
    this.#serve(flight);
    if (!wasServed && !isWholeTrip) return `${flight.label} arrives`;
    this.#remove(flight);
    flight.answer();
    return `${flight.label} ${wasServed ? 'is answered' : 'goes and comes'}`;
  }

  /** Whether a write is on its way, to the CRM where that is meant. */
  hasWrites(toCrm: boolean): boolean {
    return this.#flights.some((flight) => isWrite(flight) && !(toCrm && flight.label.startsWith('sheet')));
  }

  /** All writes arrive. */
  serveWrites(): void {
    for (const flight of this.#flights.filter(isWrite)) this.#serve(flight);
  }

  /** A request, or the answer to it, gets lost on its way. */
  lose(which: number): string {
    const flight = this.#pickVictim(which);
    return flight ? this.#lose(flight) : 'nothing';
  }

  #lose(flight: Flight): string {
    this.#remove(flight);
    flight.lose();
    return flight.isServed ? `the answer to ${flight.label}` : flight.label;
  }

  /** A request is carried out, and its answer gets lost. */
  loseAnswer(which: number): string {
    const flight = this.#pickVictim(which);
    if (!flight) return 'nothing';
    this.#serve(flight);
    return this.#lose(flight);
  }

  /** A request is given up by its sender, and may be carried out later. */
  delay(which: number, now: number): string {
    const flight = this.#pickVictim(which);
    if (!flight || flight.isServed) return 'nothing';
    this.#late.push({ ...flight, givenUpAt: now });
    return this.#lose(flight);
  }

  /** All requests are given up, because their sender ends. */
  delayAll(now: number): void {
    const unserved = this.#flights.filter(({ isServed, label }) => !isServed && !label.startsWith('job '));
    this.#late.push(...unserved.map((flight) => ({ ...flight, givenUpAt: now })));
  }

  /** Nothing stays on its way: of what may still arrive, each request arrives or gets lost, as `arrives` says. */
  endAll(now: number, arrives: (index: number) => boolean): void {
    const late = this.#late.filter((flight) => !isTooLate(flight, now));
    const unserved = [...late, ...this.#flights.filter(({ isServed }) => !isServed)];
    for (const [index, flight] of unserved.entries())
      if (!flight.label.startsWith('job ') && arrives(index)) flight.serve();
    this.#late = [];
    this.cut();
  }

  /** Carries out the oldest request that was given up, if it is not too late for it. */
  arriveLate(now: number): string {
    const flight = this.#late.shift();
    if (!flight) return 'nothing';
    if (isTooLate(flight, now)) return `${flight.label} never`;
    flight.serve();
    return flight.label;
  }

  /** Forgets all requests of a kind; answers how many. */
  drop(isOfKind: (label: string) => boolean): number {
    const kept = this.#flights.filter(({ label }) => !isOfKind(label));
    const count = this.#flights.length - kept.length;
    this.#flights = kept;
    return count;
  }

  /** Forgets everything on its way, as the end of a process does; what was served stays done. */
  cut(): void {
    this.#flights = [];
  }

  #pick(which: number): Flight | undefined {
    return this.#flights[which % this.#flights.length];
  }

  /** What goes wrong with a write does more harm than with a read, and there are few of them. */
  #pickVictim(which: number): Flight | undefined {
    const writes = this.#flights.filter(isWrite);
    return which % 4 === 0 || writes.length === 0 ? this.#pick(which >> 2) : writes[which % writes.length];
  }

  #serve(flight: Flight): void {
    if (!flight.isServed) flight.serve();
    flight.isServed = true;
  }

  #remove(flight: Flight): void {
    this.#flights.splice(this.#flights.indexOf(flight), 1);
  }
}
