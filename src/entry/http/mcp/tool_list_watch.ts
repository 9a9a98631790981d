import type { ServerEventBus } from '@modelcontextprotocol/server';

import type { Caller } from '#modules/accounts/decide/caller.ts';
import { AppError } from '#kernel/errors.ts';
import type { Limits } from '#kernel/limit_settings.ts';

const CHECK_EVERY_MS = 500;
/** Codes that end a stream: the credential has ended, or the organization has stopped its agents. */
const REFUSALS: ReadonlySet<string> = new Set(['unauthenticated', 'forbidden', 'second_factor_required']);

type StreamLimits = Pick<Limits, 'mcpStreamsMax' | 'mcpStreamsOfCredentialMax'>;

export interface Listener {
  /** Identifies a credential. */
  readonly credential: string;
  readonly caller: Caller;
  /** Returns the present caller of the same credential. Throws `unauthenticated` if there is none any more. */
  readonly reauthenticate: () => Promise<Caller>;
  /** Ends the stream cleanly. */
  readonly end: () => Promise<void>;
}

interface Stream {
  readonly listener: Listener;
  readonly notify: Parameters<ServerEventBus['subscribe']>[0];
  permissions: string;
}

/**
 * Checks the permissions behind the open streams twice a second, so that whoever has left is out within one, and
 * notifies each stream whose permissions have changed that its tools have. It polls the store, so that it does not
 * matter where, how and in which process somebody's role or key was changed. The stream of a credential that is refused
 * by now ends.
 */
export class ToolListWatch {
  readonly #limits: StreamLimits;
  readonly #streams = new Set<Stream>();
  #timer: NodeJS.Timeout | null = null;
  #checking: Promise<void> | null = null;

  constructor(limits: StreamLimits) {
    this.#limits = limits;
  }

  /** Throws `rate_limited` if one process, or one credential, has as many streams as it may. */
  admit(credential: string): void {
    const streams = [...this.#streams].filter(({ listener }) => listener.credential === credential);
    const { mcpStreamsMax, mcpStreamsOfCredentialMax } = this.#limits;
    const isOwn = streams.length >= mcpStreamsOfCredentialMax;
    if (!isOwn && this.#streams.size < mcpStreamsMax) return;
    throw new AppError('rate_limited', 'too many event streams are open; close one first', {
      limit: isOwn ? 'mcpStreamsOfCredentialMax' : 'mcpStreamsMax',
      retryAfterSeconds: 60,
    });
  }

  /** Returns the bus of one listener, which carries no events of others. */
  busOf(listener: Listener): ServerEventBus {
    return {
      publish: () => {},
      subscribe: (notify) => {
        const stream = { listener, notify, permissions: permissionsOf(listener.caller) };
        this.#streams.add(stream);
        this.#timer ??= setInterval(() => void this.check(), CHECK_EVERY_MS).unref();
        return () => this.#remove(stream);
      },
    };
  }

  /** Checks all streams once; checks never overlap. */
  check(): Promise<void> {
    this.#checking ??= Promise.all([...this.#streams].map((stream) => this.#checkOne(stream)))
      .then(() => {})
      .finally(() => {
        this.#checking = null;
      });
    return this.#checking;
  }

  /** Ends every stream. */
  async close(): Promise<void> {
    await Promise.all([...this.#streams].map(({ listener }) => listener.end()));
  }

  async #checkOne(stream: Stream): Promise<void> {
    try {
      const permissions = permissionsOf(await stream.listener.reauthenticate());
      if (permissions === stream.permissions) return;
      stream.permissions = permissions;
      stream.notify({ kind: 'tools_list_changed' });
    } catch (error) {
      // Any other failure is a store that is briefly unavailable; the next check tries again.
      if (error instanceof AppError && REFUSALS.has(error.code)) await stream.listener.end();
    }
  }

  #remove(stream: Stream): void {
    this.#streams.delete(stream);
    if (this.#streams.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}

function permissionsOf({ permissions }: Caller): string {
  return [...permissions].toSorted().join(' ');
}
