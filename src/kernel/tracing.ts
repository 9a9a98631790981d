import { AsyncLocalStorage } from 'node:async_hooks';

type SpanKind = 'server' | 'producer' | 'consumer' | 'client' | 'internal';

/** Attributes of a span; never content of senders, and no addresses of people. */
type Attributes = Readonly<Record<string, string | number | boolean>>;

interface SpanStart {
  readonly kind: SpanKind;
  readonly attributes?: Attributes;
  /** A W3C `traceparent`, from a request or a row. Absent: the current span; null: none, a trace begins. */
  readonly parent?: string | null | undefined;
}

/** A piece of work within a trace. */
export interface TracedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Context that makes another span, in any process, the child of this one. */
  readonly traceparent: string;
  set(attributes: Attributes): void;
  end(error?: unknown): void;
}

/** Recorder of spans; `entry/tracing.ts` has the only one. */
export interface TracingBackend {
  start(name: string, span: Omit<SpanStart, 'parent'> & { readonly parent: string | null }): TracedSpan;
}

/** Backend of this process, as in the SDK: spans begin deep in code whose callers would all have to pass it on. */
let backend: TracingBackend | null = null;
const running = new AsyncLocalStorage<TracedSpan>();

/** Records spans from now on; null, the default, records none and costs nothing. */
export function useTracing(used: TracingBackend | null): void {
  backend = used;
}

/** Returns the span that this code runs in; null outside of any. */
export function currentSpan(): TracedSpan | null {
  return running.getStore() ?? null;
}

/** Begins a span, which the caller ends; null when nothing is recorded. */
export function startSpan(
  name: string,
  { parent = currentSpan()?.traceparent, ...rest }: SpanStart,
): TracedSpan | null {
  return backend?.start(name, { ...rest, parent: parent ?? null }) ?? null;
}

export function withinSpan<Result>(span: TracedSpan | null, work: () => Result): Result {
  return span === null ? work() : running.run(span, work);
}

/** Runs the work within a new span, which ends with it. */
export async function inSpan<Result>(
  name: string,
  start: SpanStart,
  work: (span: TracedSpan | null) => Promise<Result>,
): Promise<Result> {
  const span = startSpan(name, start);
  if (span === null) return await work(null);
  try {
    const result = await running.run(span, () => work(span));
    span.end();
    return result;
  } catch (error) {
    span.end(error);
    throw error;
  }
}
