import type { SessionCounts, SessionOutcome } from '#modules/exceptions/decide/sessions.ts';
import { asCount, asList, asObject, asText, type JsonObject, parseJson } from '#ingest/protocols/sentry/json.ts';
import { asEventId } from '#ingest/protocols/sentry/values.ts';

interface SessionOrigin {
  readonly release: string;
  /** Environment; empty if the client named none. */
  readonly environment: string;
}

/** Sessions of one release that a request tells of. */
export interface SentSessions extends SessionOrigin, SessionCounts {}

/** Session that did not go well, according to one of its updates. The others may report the same, or worse. */
export interface SentOutcome extends SessionOrigin {
  readonly sessionId: string;
  readonly outcome: SessionOutcome;
}

interface SessionUpdate {
  readonly counts: readonly SentSessions[];
  readonly outcomes: readonly SentOutcome[];
}

const COUNTS = { sessions: 0, errored: 0, crashed: 0, abnormal: 0 };

/**
 * Reads one update of a session: the first counts the session, any may say how it went. Null for one that cannot be read or
 * names no release.
 */
export function readSession(payload: Buffer): SessionUpdate | null {
  const session = asObject(parseJson(payload));
  const origin = originOf(session);
  if (session === null || origin === null) return null;
  const outcome = outcomeOf(session['status'], asCount(session['errors']));
  const sessionId = asEventId(session['sid']);
  const started = session['init'] === true ? 1 : 0;
  // Without an id, its updates cannot be told from those of others: only the one that ends it counts.
  const isLast = typeof session['status'] === 'string' && session['status'] !== 'ok';
  const ended = sessionId === null && isLast && outcome !== null ? { [outcome]: 1 } : {};
  return {
    counts: [{ ...origin, ...COUNTS, sessions: started, ...ended }],
    outcomes: sessionId === null || outcome === null ? [] : [{ ...origin, sessionId, outcome }],
  };
}

/** An error that nothing caught is an error, unless it ended the application, which then says `crashed`. */
function outcomeOf(status: unknown, errors: number): SessionOutcome | null {
  if (status === 'crashed' || status === 'abnormal') return status;
  return status === 'errored' || status === 'unhandled' || errors > 0 ? 'errored' : null;
}

/** Reads sessions that a server has counted itself; null for what cannot be read or names no release. */
export function readSessionAggregates(payload: Buffer): SentSessions | null {
  const sent = asObject(parseJson(payload));
  const origin = originOf(sent);
  if (sent === null || origin === null) return null;
  const totals = { ...COUNTS };
  for (const entry of asList(sent['aggregates'] ?? [])) {
    const { exited, errored, unhandled, crashed, abnormal } = asObject(entry) ?? {};
    const withErrors = asCount(errored) + asCount(unhandled);
    totals.sessions += asCount(exited) + withErrors + asCount(crashed) + asCount(abnormal);
    totals.errored += withErrors;
    totals.crashed += asCount(crashed);
    totals.abnormal += asCount(abnormal);
  }
  return { ...origin, ...totals };
}

function originOf(session: JsonObject | null): SessionOrigin | null {
  const attributes = asObject(session?.['attrs'] ?? session?.['attributes']);
  const release = asText(attributes?.['release'], 200)?.trim() ?? '';
  return release === '' ? null : { release, environment: asText(attributes?.['environment'], 200) ?? '' };
}
