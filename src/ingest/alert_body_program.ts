/** Program of the thread of `AlertBodies`: parses large bodies and divides them into parts. */
import type { BodyAnswer, BodyPart, BodyQuestion } from '#ingest/alert_bodies.ts';
import { parseSentJson } from '#ingest/protocols/alerts/parse_body.ts';
import { answerInThread, lowerThreadPriority, THREAD_NICENESS } from '#kernel/threads/own_thread.ts';
import { AppError } from '#kernel/errors.ts';
import { shrinkJson } from '#modules/alerts/decide/shrink_json.ts';

/** Characters of JSON kept of one alert, of which 64 KiB are stored, and of what stands beside the alerts. */
const ALERT_SIZE_MAX = 160 * 1024;
/** Alerts of one part, and the characters after which a part ends: some milliseconds for who parses it. */
const PART = { alerts: 100, size: 512 * 1024 };

function answer({ bytes, contentType, listAt }: BodyQuestion): BodyAnswer {
  try {
    const body = parseSentJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), contentType);
    return { kind: 'parts', parts: partsOf(body, listAt) };
  } catch (error) {
    if (error instanceof AppError) return { kind: 'malformed', message: error.faults[0]?.message ?? error.message };
    if (error instanceof RangeError) return { kind: 'malformed', message: 'the body is nested too deeply' };
    throw error;
  }
}

function partsOf(body: unknown, listAt: BodyQuestion['listAt']): BodyPart[] {
  const list = listAt === undefined ? undefined : listAt === null ? body : propertyOf(body, listAt);
  if (!Array.isArray(list)) return [{ text: JSON.stringify(shrinkJson(body, ALERT_SIZE_MAX)), first: 0, of: 1 }];
  const around = listAt === null ? null : shrinkJson({ ...(body as object), [listAt ?? '']: null }, ALERT_SIZE_MAX);
  const parts: { readonly first: number; readonly alerts: string[]; size: number }[] = [];
  for (const [index, alert] of list.entries()) {
    const text = JSON.stringify(shrinkJson(alert, ALERT_SIZE_MAX));
    const last = parts.at(-1);
    const isFull = last === undefined || last.alerts.length >= PART.alerts || last.size + text.length > PART.size;
    if (isFull) parts.push({ first: index, alerts: [text], size: text.length });
    else {
      last.alerts.push(text);
      last.size += text.length;
    }
  }
  if (parts.length === 0) parts.push({ first: 0, alerts: [], size: 0 });
  return parts.map(({ first, alerts }) => {
    const text = `[${alerts.join(',')}]`;
    return { text: around === null ? text : withList(around, listAt ?? '', text), first, of: list.length };
  });
}

/** JSON of a record in which the list of this name is already JSON. */
function withList(record: unknown, name: string, list: string): string {
  const { [name]: _list, ...others } = { ...(record as Readonly<Record<string, unknown>>) };
  const text = JSON.stringify(others);
  return text === '{}' ? `{${JSON.stringify(name)}:${list}}` : `${text.slice(0, -1)},${JSON.stringify(name)}:${list}}`;
}

function propertyOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}

lowerThreadPriority(THREAD_NICENESS);
answerInThread(answer);
