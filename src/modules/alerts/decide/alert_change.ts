import { createHash } from 'node:crypto';

import { type AlertEvent, type AlertLink, SEVERITY_UNSAID } from '#modules/alerts/decide/alert_event.ts';
import { learnGap, leaseOf, type Repetition, stateOf } from '#modules/alerts/decide/alert_history.ts';
import { cutDetails } from '#modules/alerts/decide/alert_limits.ts';
import {
  type AlertEffect,
  decideAlert,
  type IncidentOfAlert,
  type KnownAlert,
} from '#modules/alerts/decide/decide_alert.ts';
import type { SourceSettings } from '#modules/alerts/decide/source_settings.ts';
import { worseSeverity } from '#modules/incidents/decide/incident_limit.ts';
import type { IncidentStatus } from '#modules/incidents/decide/incident.ts';
import { fromEpochMilliseconds, type Temporal } from '#kernel/time.ts';
import { withoutSecrets } from '#modules/exceptions/decide/secrets.ts';

type Instant = Temporal.Instant;

export interface AlertFacts {
  readonly status: IncidentStatus;
  readonly groupKey: string | null;
  readonly tool: string;
  readonly severity: string;
  readonly title: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly links: readonly AlertLink[];
  readonly images: readonly AlertLink[];
  readonly history: KnownAlert['history'];
  readonly occurrences: number;
  readonly episodeAt: Instant | null;
  readonly settledAt: Instant | null;
  readonly leaseUntil: Instant | null;
  readonly silentSince: Instant | null;
  readonly firstSeenAt: Instant;
  readonly lastSeenAt: Instant;
}

/** Result of an event: the facts of the alert after it, and its effect. */
export interface AlertChange {
  readonly facts: AlertFacts;
  readonly effect: AlertEffect;
  /** The severity before, when it rose while the alert was open. */
  readonly roseFrom: string | null;
  /** Whether it had no word, and has one again. */
  readonly isHeardAgain: boolean;
  readonly repetition: Repetition;
}

/** Returns the facts of an alert before its first event. */
export function newFacts(event: AlertEvent, tool: string, now: Instant): AlertFacts {
  return {
    status: 'resolved',
    groupKey: null,
    tool,
    severity: SEVERITY_UNSAID,
    title: event.title ?? event.key,
    details: {},
    links: [],
    images: [],
    history: [],
    occurrences: 0,
    episodeAt: null,
    settledAt: null,
    leaseUntil: null,
    silentSince: null,
    firstSeenAt: now,
    lastSeenAt: now,
  };
}

/** Returns null for an event that leaves no trace: it is about an alert that was never heard of. */
export function applyEvent(
  before: AlertFacts,
  incident: IncidentOfAlert | null,
  event: AlertEvent,
  {
    settings,
    learns,
    repetition,
  }: { readonly settings: SourceSettings; readonly learns: boolean; readonly repetition: Repetition },
  now: Instant,
): AlertChange | null {
  if (event.action === 'update') return updated(before, event, repetition, now);
  const wasOpen = stateOf(before.history).since !== null;
  const decision = decideAlert(
    {
      history: before.history,
      settledAt: before.settledAt?.epochMilliseconds ?? null,
      episodeAt: before.episodeAt?.epochMilliseconds ?? null,
    },
    wasOpen ? incident : null,
    { action: event.action, at: event.at?.epochMilliseconds ?? null, timing: event.timing },
    now.epochMilliseconds,
  );
  const { alert, effect } = decision;
  if (alert.history.length === 0) return null;
  const isOpen = decision.tool === 'triggered' || decision.tool === 'acknowledged';
  const begins = effect === 'open' || effect === 'open_acknowledged' || effect === 'replace';
  const isCounted = event.action === 'trigger' && isOpen;
  const gap = (now.epochMilliseconds - before.lastSeenAt.epochMilliseconds) / 1_000;
  const learnt = isCounted && wasOpen && !begins ? learnGap(repetition, gap) : repetition;
  const severity = event.severity ?? before.severity;
  const isNewer = event.action === 'trigger' && (isOpen || before.occurrences === 0);
  const worst = begins || !wasOpen ? severity : worseSeverity(before.severity, severity);
  const facts: AlertFacts = {
    status: isOpen ? decision.tool : 'resolved',
    groupKey: event.group ?? before.groupKey,
    tool: event.tool ?? before.tool,
    severity: isNewer ? worst : before.severity,
    title: (isNewer ? event.title : null) ?? before.title,
    details: (isNewer ? event.details : null) ?? before.details,
    links: (isNewer ? event.links : null) ?? before.links,
    images: (isNewer ? event.images : null) ?? before.images,
    history: alert.history,
    occurrences: begins ? 1 : before.occurrences + (isCounted ? 1 : 0),
    episodeAt: instantOf(alert.episodeAt),
    settledAt: instantOf(alert.settledAt),
    leaseUntil: isCounted
      ? leaseOf(event.leaseUntil, { ...settings, learns }, learnt, now)
      : isOpen
        ? before.leaseUntil
        : null,
    silentSince: isCounted || !isOpen ? null : before.silentSince,
    firstSeenAt: begins ? now : before.firstSeenAt,
    lastSeenAt: now,
  };
  return {
    facts,
    effect,
    roseFrom: !begins && wasOpen && facts.severity !== before.severity ? before.severity : null,
    isHeardAgain: before.silentSince !== null && isCounted,
    repetition: learnt,
  };
}

/** Applies an `update` to an alert that exists; details are added to those it has. */
function updated(before: AlertFacts, event: AlertEvent, repetition: Repetition, now: Instant): AlertChange | null {
  if (before.history.length === 0) return null;
  const severity = worseSeverity(before.severity, event.severity ?? before.severity);
  const isOpen = before.status !== 'resolved';
  const details = event.details === null ? before.details : cutDetails({ ...before.details, ...event.details }).value;
  const facts = {
    ...before,
    title: event.title ?? before.title,
    severity: isOpen ? severity : before.severity,
    details,
    lastSeenAt: now,
  };
  const roseFrom = facts.severity === before.severity ? null : before.severity;
  return { facts, effect: 'nothing', roseFrom, isHeardAgain: false, repetition };
}

function instantOf(ms: number | null): Instant | null {
  return ms === null ? null : fromEpochMilliseconds(ms);
}

const OF_INCIDENT_BYTES_MAX = 8 * 1024;

/** Returns the details that an incident keeps of the alert that opened it. */
export function incidentDetails(
  facts: Pick<AlertFacts, 'tool' | 'details' | 'links' | 'images'>,
  { protocol, sourceName, key }: { readonly protocol: string; readonly sourceName: string; readonly key: string },
): Record<string, unknown> {
  const { value: said, cut } = cutDetails(facts.details, OF_INCIDENT_BYTES_MAX);
  return {
    source: { tool: facts.tool, protocol, name: sourceName },
    // The key itself stays as it was sent: the tool names the alert by it.
    alertKey: withoutSecrets(key),
    said,
    links: facts.links,
    images: facts.images,
    ...(cut && { isCut: true }),
  };
}

/** The key of the incident of an alert, or of the group that it belongs to: one is open at most. */
export function incidentKeyOf(
  {
    sourceId,
    scope,
    key,
    groupKey,
  }: { readonly sourceId: string; readonly scope: string; readonly key: string; readonly groupKey: string | null },
  { incidentsPer }: Pick<SourceSettings, 'incidentsPer'>,
): string {
  const isGrouped = incidentsPer === 'group' && groupKey !== null;
  const what = JSON.stringify([isGrouped ? 'group' : 'alert', scope, isGrouped ? groupKey : key]);
  return `alert.${sourceId}.${createHash('sha256').update(what).digest('hex').slice(0, 40)}`;
}
