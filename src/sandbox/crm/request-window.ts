/** How many requests one key or address may make in a window that rolls. */
export interface WindowLimit {
  readonly requests: number;
  readonly windowMs: number;
}

/** What a request met when it arrived. `resetAt` is when the oldest counted request is forgotten (epoch ms). */
export interface WindowReading {
  readonly isOverLimit: boolean;
  readonly limit: number;
  readonly remaining: number;
  readonly resetAt: number;
}

/** What one key or address has used so far; refused requests are part of `requests` and `largestWindow`. */
export interface WindowUsage {
  readonly requests: number;
  readonly refused: number;
  /** The most requests that ever arrived within one rolling window. */
  readonly largestWindow: number;
}

/**
 * A rolling window over the arrivals of one key or one address. A request counts from its arrival until one
 * window later, to the millisecond.
 */
export class RequestWindow {
  readonly #limit: WindowLimit;
  readonly #refusedRequestsCount: boolean;
  #counted: number[] = [];
  #arrivals: number[] = [];
  #requests = 0;
  #refused = 0;
  #largestWindow = 0;

  constructor(limit: WindowLimit, refusedRequestsCount: boolean) {
    this.#limit = limit;
    this.#refusedRequestsCount = refusedRequestsCount;
  }

  /** Takes note of a request that arrives `now` (epoch ms) and says whether it is over the limit. */
  arrive(now: number): WindowReading {
    const { requests, windowMs } = this.#limit;
    const isInWindow = (at: number) => at > now - windowMs;
    this.#arrivals = [...this.#arrivals.filter(isInWindow), now];
    this.#counted = this.#counted.filter(isInWindow);
    const isOverLimit = this.#counted.length >= requests;
    if (!isOverLimit || this.#refusedRequestsCount) this.#counted.push(now);
    this.#requests += 1;
    if (isOverLimit) this.#refused += 1;
    this.#largestWindow = Math.max(this.#largestWindow, this.#arrivals.length);
    return {
      isOverLimit,
      limit: requests,
      remaining: Math.max(0, requests - this.#counted.length),
      resetAt: (this.#counted[0] ?? now) + windowMs,
    };
  }

  usage(): WindowUsage {
    return { requests: this.#requests, refused: this.#refused, largestWindow: this.#largestWindow };
  }
}
