import type { AlertAnswer, AlertEndpoint, AlertReading } from '#ingest/protocols/alerts/alert_protocol.ts';
import { parseSentJson } from '#ingest/protocols/alerts/parse_body.ts';
import { AppError, invalidInput } from '#kernel/errors.ts';
import { nextTurn } from '#kernel/cooperative_task.ts';
import type { Id } from '#kernel/ids.ts';
import { OwnThread } from '#kernel/threads/own_thread.ts';
import { limitBy, type Clock } from '#kernel/time.ts';

/** A body for the thread, and where it holds its alerts; undefined for one alert a body. */
export interface BodyQuestion {
  readonly bytes: Uint8Array;
  readonly contentType: string | undefined;
  readonly listAt: string | null | undefined;
}

/** Part of a body, as JSON, with the place of its first alert and how many there are in all parts. */
export interface BodyPart {
  readonly text: string;
  readonly first: number;
  readonly of: number;
}

export type BodyAnswer =
  | { readonly kind: 'parts'; readonly parts: readonly BodyPart[] }
  | { readonly kind: 'malformed'; readonly message: string };

interface ParsedPart {
  readonly body: unknown;
  readonly part?: Pick<BodyPart, 'first' | 'of'>;
}

/** Larger bodies are parsed in a thread: they would hold up everybody else's requests for up to a fifth of a second. */
const PARSED_HERE_BYTES_MAX = 1024 * 1024;
const MEMORY_MB = 256;
const UNHEARD_MS = 10_000;

/** Parses bodies with alerts; a large one in parts of about a hundred alerts, each cut to size. */
export class AlertBodies {
  readonly #thread: OwnThread<BodyQuestion, BodyAnswer>;

  constructor(clock: Clock) {
    this.#thread = new OwnThread({
      program: new URL('./alert_body_program.ts', import.meta.url),
      data: null,
      memoryMb: MEMORY_MB,
      unheardMs: limitBy(clock, UNHEARD_MS),
    });
  }

  /** Reads a body by its endpoint. Throws `invalid_input` for what cannot be read. */
  async read(
    orgId: Id<'org'>,
    endpoint: AlertEndpoint,
    { bytes, contentType }: { readonly bytes: Buffer; readonly contentType: string | undefined },
    readPart: (parsed: ParsedPart) => AlertReading | Promise<AlertReading>,
  ): Promise<AlertReading> {
    const { reads = 'json' } = endpoint;
    if (reads === 'none' || (reads === 'json_or_none' && bytes.length === 0)) return await readPart({ body: null });
    if (reads === 'bytes') return await readPart({ body: bytes });
    if (bytes.length <= PARSED_HERE_BYTES_MAX) return await readPart({ body: parseSentJson(bytes, contentType) });
    const readings: AlertReading[] = [];
    for (const { text, first, of } of await this.#split(orgId, { bytes, contentType, listAt: endpoint.list?.at })) {
      await nextTurn();
      readings.push(await readPart({ body: JSON.parse(text) as unknown, part: { first, of } }));
    }
    return joinReadings(readings, endpoint);
  }

  async close(): Promise<void> {
    await this.#thread.close();
  }

  async #split(orgId: Id<'org'>, question: BodyQuestion): Promise<readonly BodyPart[]> {
    const answered = await this.#thread.ask(orgId, question);
    if (answered.kind === 'too_much') {
      throw new AppError('payload_too_large', 'the body is too complex to be read; send fewer alerts at once');
    }
    if (answered.answer.kind === 'malformed') throw invalidInput([{ path: '', message: answered.answer.message }]);
    return answered.answer.parts;
  }
}

/** Joins what was read of the parts of one body. */
function joinReadings(readings: readonly AlertReading[], { list }: AlertEndpoint): AlertReading {
  const [first, ...others] = readings;
  if (first === undefined) throw new Error('a body has at least one part');
  if (others.length === 0 || list === undefined) return first;
  const alerts = readings.flatMap((reading) => (reading.kind === 'alerts' ? [reading] : []));
  return {
    kind: 'alerts',
    sent: alerts.flatMap(({ sent }) => sent),
    answer: (outcomes) => {
      let from = 0;
      const answers = alerts.map(({ sent, answer }): AlertAnswer => {
        const part = outcomes.slice(from, from + sent.length);
        from += sent.length;
        return answer(part);
      });
      return list.join(answers);
    },
  };
}
