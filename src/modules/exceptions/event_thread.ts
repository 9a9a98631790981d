import type { Grouping, LearnableMessage } from '#modules/exceptions/decide/grouping.ts';
import type { ExceptionSettings } from '#modules/exceptions/decide/inbound_filters.ts';
import type { Id } from '#kernel/ids.ts';
import { OwnThread, type ThreadAnswer } from '#kernel/threads/own_thread.ts';

/** Grouping of an event, as far as the thread can determine it. */
export interface ThreadGrouping {
  readonly grouping: Grouping;
  readonly said: LearnableMessage | null;
}

/** An event that the thread has read, without what its service leaves out. */
export interface ThreadEvent extends ThreadGrouping {
  readonly kind: 'event';
  readonly orgId: Id<'org'>;
  readonly serviceId: Id<'service'>;
  readonly traceparent: string | undefined;
  /** Event as `serializeEvent` writes it. */
  readonly text: string;
}

export type EventQuestion =
  /** Reads what `openEvents` has opened. */
  | {
      readonly kind: 'read';
      readonly bytes: Uint8Array;
      readonly settings: ReadonlyMap<Id<'service'>, Pick<ExceptionSettings, 'filters' | 'patterns' | 'secretNames'>>;
    }
  /** Groups an event whose frames were mapped. */
  | { readonly kind: 'group'; readonly text: string };

/** Event of a question. */
export type ReadByThread =
  | ThreadEvent
  | { readonly kind: 'malformed' | 'not_an_exception'; readonly serviceId: Id<'service'> }
  /** The service leaves it out, for this reason. */
  | { readonly kind: 'filtered'; readonly serviceId: Id<'service'>; readonly reason: string };

export type EventAnswer =
  | { readonly kind: 'read'; readonly events: readonly ReadByThread[] }
  | { readonly kind: 'grouped'; readonly grouped: ThreadGrouping }
  /** An event cannot be read, or not in time. */
  | { readonly kind: 'fault'; readonly message: string };

const MEMORY_MB = 192;
/** Time limit for a job or an event, which normally stops by itself much sooner. */
const UNHEARD_MS = 120_000;

/** Reads and groups large events in a thread of their own: one may take a third of a second. */
export class EventThread {
  readonly #thread = new OwnThread<EventQuestion, EventAnswer>({
    program: new URL('./event_program.ts', import.meta.url),
    data: null,
    memoryMb: MEMORY_MB,
    unheardMs: UNHEARD_MS,
  });

  async ask(orgId: Id<'org'>, question: EventQuestion): Promise<ThreadAnswer<EventAnswer>> {
    return await this.#thread.ask(orgId, question);
  }

  async close(): Promise<void> {
    await this.#thread.close();
  }
}
