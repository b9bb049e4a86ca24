/** A request on its way: it has not arrived yet, or it was carried out and its answer is on the way back. */
interface Flight {
  readonly label: string;
  isServed: boolean;
  readonly serve: () => void;
  readonly answer: () => void;
}

/** Holds every request of every port until the simulation lets it go on: nothing resolves by itself. */
export class Wire {
  #flights: Flight[] = [];

  get size(): number {
    return this.#flights.length;
  }

  get labels(): readonly string[] {
    return this.#flights.map(({ label }) => label);
  }

  /** Sends a request. `work` is done when it arrives; its result, or what it throws, comes back when the answer does. */
  send<Answer>(label: string, work: () => Answer): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
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
    };
    this.#flights.push(flight);
    return promise;
  }

  /** Lets one request arrive, and its answer too where the trip is whole. Answers what was let go on. */
  advance(which: number, isWholeTrip: boolean): string {
    const flight = this.#flights[which % this.#flights.length];
    if (!flight) return 'nothing';
    const wasServed = flight.isServed;
    if (!wasServed) {
      flight.serve();
      flight.isServed = true;
    }
    if (!wasServed && !isWholeTrip) return `${flight.label} arrives`;
    this.#flights.splice(this.#flights.indexOf(flight), 1);
    flight.answer();
    return `${flight.label} ${wasServed ? 'is answered' : 'goes and comes'}`;
  }

  /** Forgets everything on its way, as the end of a process does; what was served stays done. */
  cut(): void {
    this.#flights = [];
  }
}
