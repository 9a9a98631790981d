import {
  infiniteQueryOptions,
  keepPreviousData,
  type Query,
  type QueryClient,
  queryOptions,
} from '@tanstack/react-query';
import type { Static, TObject, TSchema } from 'typebox';

import type { OrganizationOperation, OwnAccountOperation } from '#actions/registry.ts';
import { ask, isApiError, toApiError } from '#console/api/http.ts';
import { dataOfPageAt, takeDataOfPage } from '#console/api/initial_data.ts';
import { READS_MAX } from '#modules/pages/decide/limits.ts';
import type { LiveTopic } from '#modules/pages/decide/live_topics.ts';

/** Name of an operation that can be invoked within an organization. Types only: no server code is in the build. */
export type ActionName = OrganizationOperation['name'];

type Declared = { readonly input: TObject; readonly result: TSchema };
type Of<Operation, Name> =
  Extract<Operation, { readonly name: Name }> extends infer Found extends Declared ? Found : never;

export type InputOf<Name extends ActionName> = Static<Of<OrganizationOperation, Name>['input']>;
export type ResultOf<Name extends ActionName> = Static<Of<OrganizationOperation, Name>['result']>;

/** Result of an operation on a person's own account. */
export type AccountResultOf<Name extends OwnAccountOperation['name']> = Static<Of<OwnAccountOperation, Name>['result']>;

/** Incident as `get_incident` and lists return it. */
export type Incident = Omit<
  FoundIncident,
  'serviceName' | 'answeredByName' | 'answeredByColor' | 'reached' | 'reachedCount'
>;
export type FoundIncident = ResultOf<'search_incidents'>['incidents'][number];
export type OpenCounts = ResultOf<'count_incidents_by_service'>['services'][number];
export type IncidentCounts = ResultOf<'count_incidents'>;
export type IncidentWithLog = ResultOf<'get_incident'>;
export type Service = ResultOf<'search_services'>['services'][number];
export type ServiceWithKeys = ResultOf<'get_service'>;
export type Rule = ResultOf<'search_rules'>['rules'][number];
export type BillingMonth = ResultOf<'get_billing'>['months'][number];
export type Capability = Service['capabilities'][number];

/**
 * Invokes an action as the signed-in person, in this organization. With a signal it is a read of the page, and is
 * batched with the page's other reads.
 */
export async function invoke<Name extends ActionName>(
  orgId: string,
  action: Name,
  input: InputOf<Name>,
  signal?: AbortSignal,
): Promise<ResultOf<Name>> {
  if (signal !== undefined && isReadTogether(action)) {
    return (await readTogether(orgId, action, input, signal)) as ResultOf<Name>;
  }
  return await ask(`organizations/${orgId}/actions/${action}`, { method: 'POST', body: input, signal });
}

/**
 * Actions that are read alone: they may take longer than a page should wait for its other data, or their answers hold
 * secrets, which the server does not compress.
 */
const ALONE: ReadonlySet<string> = new Set([
  'describe_labels',
  'describe_metrics',
  'get_exception_issue',
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
function isReadTogether(action: string): boolean {
  return !ALONE.has(action);
}

/** Reads data together with all other reads that the page requests at this moment, in one request. */
function readTogether(orgId: string, action: string, input: object, signal: AbortSignal): Promise<unknown> {
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

/** Topic of data that changes together. A key begins with organization and topic, so that a live change can name it. */
export type Topic = LiveTopic | 'me' | 'settings' | 'metrics';

export const topicKey = (orgId: string, topic: Topic) => ['org', orgId, topic] as const;

/** Query of a read action. Its first answer is taken from the page, if it holds it. */
export function actionQuery<Name extends ActionName>(orgId: string, topic: Topic, action: Name, input: InputOf<Name>) {
  return queryOptions({
    queryKey: [...topicKey(orgId, topic), action, input],
    queryFn: ({ signal }): Promise<ResultOf<Name>> => invoke(orgId, action, input, signal),
    initialData: () => takeDataOfPage(orgId, action, input) as ResultOf<Name> | undefined,
    initialDataUpdatedAt: dataOfPageAt,
  });
}

interface Page {
  readonly nextCursor: string | null;
}

type PagedAction = { [Name in ActionName]: ResultOf<Name> extends Page ? Name : never }[ActionName];

/** Query of a list that the server returns page by page. Its first answer is taken from the page, if it holds it. */
export function pagedQuery<Name extends PagedAction>(
  orgId: string,
  topic: Topic,
  action: Name,
  input: Omit<InputOf<Name>, 'cursor'>,
) {
  return infiniteQueryOptions({
    queryKey: [...topicKey(orgId, topic), action, input],
    queryFn: ({ pageParam, signal }): Promise<ResultOf<Name>> =>
      invoke(orgId, action, { ...input, ...(pageParam !== null && { cursor: pageParam }) } as InputOf<Name>, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => (last as Page).nextCursor,
    initialData: () => {
      const first = takeDataOfPage(orgId, action, input) as ResultOf<Name> | undefined;
      return first && { pages: [first], pageParams: [null] };
    },
    initialDataUpdatedAt: dataOfPageAt,
  });
}

/** Query of a searched list: the previous answer stays until the next one has arrived. */
export function searchedQuery<Name extends PagedAction>(
  orgId: string,
  topic: Topic,
  action: Name,
  input: Omit<InputOf<Name>, 'cursor'>,
) {
  return { ...pagedQuery(orgId, topic, action, input), placeholderData: keepPreviousData };
}

export const incidentQuery = (orgId: string, incidentId: string) =>
  actionQuery(orgId, 'incidents', 'get_incident', { incidentId });

export const agentWorkQuery = (orgId: string, incidentId: string) =>
  actionQuery(orgId, 'incidents', 'get_agent_work', { incidentId });
export const serviceQuery = (orgId: string, serviceId: string) =>
  actionQuery(orgId, 'services', 'get_service', { serviceId });
export const onCallQuery = (orgId: string, teamId: string) => actionQuery(orgId, 'teams', 'who_is_on_call', { teamId });

/**
 * Fetches the changed rows of a list, and puts them in. A list that is not shown, or that is being read or is out of
 * date anyway, is invalidated as a whole. So is one that was written meanwhile, because it is unknown which of the
 * answers is the newer one.
 */
export async function updateRows<List, Rows>(
  queryClient: QueryClient,
  list: Query,
  fetchRows: () => Promise<Rows>,
  /** Returns the list with these rows; null if it has to be reloaded as a whole. */
  put: (shown: List, rows: Rows) => List | null,
): Promise<void> {
  const { queryKey } = list;
  const isReady = ({ state }: Query) =>
    state.data !== undefined && state.fetchStatus === 'idle' && !state.isInvalidated && state.error === null;
  const updates = list.state.dataUpdateCount;
  if (list.isActive() && isReady(list)) {
    const rows = await fetchRows().catch((error: unknown) => {
      if (isApiError(error)) return null;
      throw error;
    });
    if (rows !== null && isReady(list) && list.state.dataUpdateCount === updates) {
      const updated = put(list.state.data as List, rows);
      if (updated !== null) {
        queryClient.setQueryData<List>(queryKey, () => updated);
        return;
      }
    }
  }
  await queryClient.invalidateQueries({ queryKey, exact: true });
}
