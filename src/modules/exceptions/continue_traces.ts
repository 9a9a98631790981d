import type { ArrivedEvent } from '#ingest/packing/pack_events.ts';
import { startSpan } from '#kernel/tracing.ts';

/** Requests whose traces a batch continues; of more, the rest is handled without. */
const TRACED_MAX = 50;

/**
 * Opens a span for each traced request for the batch in which its events are handled; the events refer to it from then
 * on.
 */
export async function continueTraces(
  events: readonly ArrivedEvent[],
  work: (handled: readonly ArrivedEvent[]) => Promise<void>,
): Promise<void> {
  const parents = [...new Set(events.flatMap(({ traceparent }) => traceparent ?? []))].slice(0, TRACED_MAX);
  if (parents.length === 0) return await work(events);
  const attributes = { 'tocsin.batch_events': events.length };
  const spans = new Map(
    parents.map((parent) => [parent, startSpan('group_exceptions', { kind: 'consumer', attributes, parent })]),
  );
  try {
    await work(events.map((event) => ({ ...event, traceparent: spans.get(event.traceparent ?? '')?.traceparent })));
    for (const span of spans.values()) span?.end();
  } catch (error) {
    for (const span of spans.values()) span?.end(error);
    throw error;
  }
}
