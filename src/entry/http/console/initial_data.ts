import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';

import { getSession } from '#modules/accounts/operations/sessions.ts';
import { getConsoleOperation } from '#actions/registry.ts';
import { runAccountOperation } from '#actions/run_account_operation.ts';
import { runReads } from '#actions/run_reads.ts';
import { memberCallerOf } from '#auth/sessions.ts';
import {
  PAGES_WITHOUT_SHELL,
  PREFETCHED,
  type PrefetchedQuery,
  SHELL_QUERIES,
} from '#modules/pages/decide/prefetched_queries.ts';
import { PAGES } from '#modules/pages/decide/pages.ts';
import { authenticateRequest, browserOf, type Serving } from '#entry/http/console/browser.ts';
import { type FirstFrame, titleIn } from '#entry/http/console/first_frame.ts';
import { routeOfPage } from '#entry/http/console_build.ts';
import { setSender } from '#entry/http/connections/sender.ts';
import { toTimestamp, limitBy } from '#kernel/time.ts';
import { withTimeout } from '#kernel/promises.ts';
import type { SessionOfPerson } from '#modules/accounts/store/session_store.ts';
import { storesOf } from '#modules/stores.ts';

/** Initial data of a page for the person who opens it, so that the console begins without a request of its own. */
export interface DataOfPage {
  /** Session, as `get_session` answers; null if nobody is signed in, or if it cannot be read now. */
  readonly session: unknown;
  /** Data the page shows first; null if the console has to fetch it. */
  readonly first: FirstData | null;
  readonly frame: FirstFrame | null;
}

interface FirstData {
  readonly orgId: string;
  /** Time of the read, by the server's clock. */
  readonly at: string;
  readonly reads: readonly (PrefetchedQuery & { readonly result: unknown })[];
}

export type FindDataOfPage = (request: FastifyRequest, reply: FastifyReply, route: string) => Promise<DataOfPage>;

type Session = Static<(typeof getSession)['result']>;

const NOBODY: DataOfPage = { session: null, first: null, frame: null };

/** Longest time a page waits for its data: after that the console fetches it, and shows that it is loading. */
const PAGE_WAIT_MS = 1_000;

const FIRST_READS_OF_ROUTE = new Map(
  Object.entries(PAGES).flatMap(([name, page]) => {
    const readsOf = PREFETCHED[name as keyof typeof PAGES];
    return readsOf === undefined ? [] : [[routeOfPage(page), readsOf] as const];
  }),
);

const ROUTES_WITHOUT_SHELL: ReadonlySet<string> = new Set(PAGES_WITHOUT_SHELL.map((name) => routeOfPage(PAGES[name])));

/**
 * Returns the function that reads the data of the page a browser requests first. The data is what the same operations
 * answer the same person: each has its own permission, and counts against their budget. What is refused or fails is
 * left out: the console fetches it, and shows the error.
 */
export function initialDataOf(serving: Serving, waitMs = PAGE_WAIT_MS): FindDataOfPage {
  const { context, cookie } = serving;
  const timeoutMs = limitBy(context.clock, waitMs);

  const findFirst = async (
    request: FastifyRequest,
    route: string,
    person: SessionOfPerson,
    { organizations }: Session,
  ): Promise<FirstData | null> => {
    const wanted = prefetchedQueriesOf(request, route);
    const [org, ...others] = organizations;
    // With several organizations, only the browser knows which one it shows.
    if (wanted.length === 0 || org === undefined || others.length > 0) return null;
    const now = context.clock.now();
    const place = { orgId: org.orgId, address: request.ip };
    const caller = await memberCallerOf(storesOf(context.db.session()), person, place, now);
    setSender(request, person.userId);
    const outcomes = await runReads(
      context.actions,
      getConsoleOperation,
      caller,
      { reads: wanted },
      {
        origin: { requestId: request.id, address: request.ip },
        inTurn: (work) => serving.budget.run(caller.actor.userId, work),
      },
    );
    const reads = wanted.flatMap((read, index) => {
      const outcome = outcomes[index];
      return outcome !== undefined && 'result' in outcome ? [{ ...read, result: outcome.result }] : [];
    });
    return { orgId: org.orgId, at: toTimestamp(now), reads };
  };

  return async (request, reply, route) => {
    if (cookie.read(request.headers.cookie) === null) return NOBODY;
    try {
      const person = await authenticateRequest(serving, request);
      const requester = {
        session: person,
        browser: browserOf(serving, request, reply),
        origin: { requestId: request.id, address: request.ip },
      };
      const session = (await runAccountOperation(context.actions, getSession, requester, {})) as Session;
      const first = await withTimeout(findFirst(request, route, person, session), timeoutMs, () => null).catch(
        () => null,
      );
      const [org, ...others] = session.organizations;
      const hasFrame = org !== undefined && others.length === 0 && first !== null;
      const frame = hasFrame ? { organization: org.name, title: titleIn(resultsOf(first), idIn(request)) } : null;
      return { session, first, frame };
    } catch {
      // The console fetches the data again, and shows the error.
      return NOBODY;
    }
  };
}

/** Returns the first reads of a route. With a filter in the address, a list shows other data than without. */
function prefetchedQueriesOf(request: FastifyRequest, route: string): readonly PrefetchedQuery[] {
  if (ROUTES_WITHOUT_SHELL.has(route)) return [];
  const id = idIn(request);
  const isFiltered = id === '' && /\?(?!org=[^&]*$)/.test(request.url);
  const readsOf = isFiltered ? undefined : FIRST_READS_OF_ROUTE.get(route);
  return readsOf?.(id) ?? SHELL_QUERIES;
}

/** Returns the id in the address; empty if there is none. */
function idIn({ params }: FastifyRequest): string {
  const { id = '' } = params as { readonly id?: string };
  return id;
}

const resultsOf = ({ reads }: FirstData): readonly unknown[] => reads.map(({ result }) => result);
