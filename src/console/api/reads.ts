import { READS_MAX } from '#modules/pages/decide/limits.ts';
import { ask, isApiError, toApiError } from '#console/api/http.ts';

/**
 * Actions that are read alone: they may take longer than a page should wait for its other data, or their answers hold
 * secrets, which the server does not compress.
 */
const ALONE: ReadonlySet<string> = new Set([
  'describe_labels',
  'describe_metrics',
  'get_exception_overview',
  'get_incident_context',
  'get_service',
  'get_service_activity',
  'get_service_health',
  'list_exception_events',
  'list_exception_origins',
  'list_exemplars',
  'query_metric',
  'query_metrics',
  'read_rule_history',
  'replay_rule',
  'reveal_ingest_key',
  'simulate_escalation',
  'suggest_rules',
]);

interface Read {
  readonly action: string;
  readonly input: object;
  readonly signal: AbortSignal;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

type Answer =
  | { readonly result: unknown }
  | { readonly problem: { readonly status: number; readonly code: string }; readonly retryAfterSeconds?: number };

/** Reads requested in the current tick, by organization. */
const waiting = new Map<string, Read[]>();

/** Whether a read is batched with the other reads of the same moment. */
export function isReadTogether(action: string): boolean {
  return !ALONE.has(action);
}

/** Reads data together with all other reads that the page requests at this moment, in one request. */
export function readTogether(orgId: string, action: string, input: object, signal: AbortSignal): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const queued = waiting.get(orgId);
  const read = { action, input, signal, resolve, reject };
  if (queued !== undefined && queued.length < READS_MAX) queued.push(read);
  else {
    const reads = [read];
    waiting.set(orgId, reads);
    setTimeout(() => {
      if (waiting.get(orgId) === reads) waiting.delete(orgId);
      void send(orgId, reads);
    });
  }
  signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  return promise;
}

async function send(orgId: string, all: readonly Read[]): Promise<void> {
  const reads = all.filter(({ signal }) => !signal.aborted);
  const [only, ...others] = reads;
  if (only === undefined) return;
  if (others.length === 0) return await askAlone(orgId, only);
  const ended = new AbortController();
  for (const { signal } of reads) {
    signal.addEventListener('abort', () => {
      if (reads.every((read) => read.signal.aborted)) ended.abort(signal.reason);
    });
  }
  const body = { reads: reads.map(({ action, input }) => ({ action, input })) };
  try {
    const { answers } = await ask<{ readonly answers: readonly Answer[] }>(`organizations/${orgId}/reads`, {
      method: 'POST',
      body,
      signal: ended.signal,
    });
    for (const [index, read] of reads.entries()) settle(orgId, read, answers[index]);
  } catch (error) {
    // A server of an earlier version, or one that refuses the batch, gets each read as a separate request.
    if (isApiError(error, 404) || isApiError(error, 400)) {
      await Promise.all(reads.map((read) => askAlone(orgId, read)));
      return;
    }
    for (const { reject } of reads) reject(error);
  }
}

function settle(orgId: string, read: Read, answer: Answer | undefined): void {
  if (answer === undefined) return read.reject(new Error('the server left out an answer'));
  if ('result' in answer) return read.resolve(answer.result);
  const { problem, retryAfterSeconds } = answer;
  // A separate request asks the person for the second factor.
  if (problem.code === 'step_up_required') return void askAlone(orgId, read);
  read.reject(toApiError(problem, problem.status, retryAfterSeconds));
}

async function askAlone(orgId: string, { action, input, signal, resolve, reject }: Read): Promise<void> {
  const path = `organizations/${orgId}/actions/${action}`;
  await ask(path, { method: 'POST', body: input, signal }).then(resolve, reject);
}
