import type { Channel } from '#modules/contacts/decide/channel.ts';

/** Limits of a provider: requests a second, beyond which it answers 429, and messages that leave it a second. */
export interface ProviderLimits {
  readonly requestsPerSecond: number;
  readonly leavingPerSecond: number;
}

export interface Letter {
  readonly channel: Channel;
  readonly user: string;
  readonly organization: number;
  /** Second in which its step was due. */
  readonly dueSecond: number;
  readonly incidents: readonly number[];
}

/** Letters that have left are removed from memory in so large parts. */
const FORGOTTEN_AT = 10_000;

/** A provider with a line of its own, first come, first served, whoever they belong to. */
export class Provider {
  readonly limits: ProviderLimits;
  readonly #line: Letter[] = [];
  #head = 0;
  #taken = 0;
  #credit = 0;

  constructor(limits: ProviderLimits) {
    this.limits = limits;
  }

  get waiting(): number {
    return this.#line.length - this.#head;
  }

  /** False is a 429. */
  request(letter: Letter): boolean {
    if (this.#taken >= this.limits.requestsPerSecond) return false;
    this.#taken += 1;
    this.#line.push(letter);
    return true;
  }

  /** Removes the messages that reach phones in this second, and returns them. */
  leave(): Letter[] {
    this.#taken = 0;
    this.#credit = Math.min(this.#credit, 1) + this.limits.leavingPerSecond;
    const count = Math.min(Math.floor(this.#credit), this.waiting);
    this.#credit -= count;
    const left = this.#line.slice(this.#head, this.#head + count);
    this.#head += count;
    if (this.#head > FORGOTTEN_AT) {
      this.#line.splice(0, this.#head);
      this.#head = 0;
    }
    return left;
  }
}
