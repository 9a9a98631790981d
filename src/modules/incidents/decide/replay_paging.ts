import { findParent, nextParent, type Opening, type PossibleParent } from '#modules/incidents/decide/group.ts';
import type {
  MaintenanceSubject,
  MaintenanceTarget,
  MaintenanceTimes,
} from '#modules/maintenance/decide/maintenance.ts';
import { SuppressionTimes } from '#modules/incidents/decide/maintenance_times.ts';
import { staleAt } from './escalation_state.ts';
import { finish, type Steps } from '#kernel/cooperative_task.ts';
import { isAtOrBefore, type Temporal } from '#kernel/time.ts';

type Instant = Temporal.Instant;

/** An incident that a rule would have opened and closed. */
export interface ReplayedOpening extends MaintenanceSubject, Opening {
  readonly openedAt: Instant;
  /** Time at which it closed; null for one that is still open. */
  readonly closedAt: Instant | null;
  /** Number of steps in its policy; 0: it pages nobody. */
  readonly steps: number;
  readonly repageMinutes: number | null;
}

/** An incident of the service that did open: it may page for a replayed one. */
export interface RealIncident extends Omit<PossibleParent, 'status'> {
  readonly title: string;
  readonly serviceId: string;
  readonly resolvedAt: Instant | null;
}

/** A time in which the steps of an incident run, from the first one on, while nobody answers. */
export interface PagingRun {
  readonly from: Instant;
  /** Time at which it was answered or closed; null while it is open. */
  readonly until: Instant | null;
}

export type ReplayedStart<Window> =
  | { readonly kind: 'at_once' }
  | { readonly kind: 'quiet'; readonly until: Instant; readonly window: Window }
  /** The incident that pages for it; `parent` is null for another replayed one. */
  | { readonly kind: 'with_parent'; readonly parent: RealIncident | null };

export interface ReplayedPaging<Window> {
  readonly start: ReplayedStart<Window>;
  /** Runs in order of time; none when it never pages. */
  readonly runs: readonly PagingRun[];
}

export interface PagingSetting<Window> {
  readonly windows: readonly Window[];
  readonly others: readonly RealIncident[];
  /** Minutes after which somebody acknowledges each run and forgets it; null: nobody answers. */
  readonly acknowledgedAfterMinutes: number | null;
  readonly now: Instant;
}

interface Replayed<Window> {
  readonly index: number;
  readonly incident: ReplayedOpening;
  readonly start: ReplayedStart<Window>;
  /** Time from which it pages; null while another pages for it. */
  from: Instant | null;
  /** The replayed or the real one that pages for it. */
  parent: Parent<Window> | null;
  isSuppressed: boolean;
  isOpen: boolean;
}

interface Parent<Window> extends PossibleParent {
  readonly replayed: Replayed<Window> | null;
  readonly real: RealIncident | null;
}

/**
 * Replays when incidents would have paged, in the order of `incidents`: the engine's own decisions about maintenance,
 * grouping and stale acknowledgements, one opening or closing after the other. What closes at an instant closes before
 * what opens then.
 */
export function replayPaging<Window extends MaintenanceTimes & MaintenanceTarget>(
  incidents: readonly ReplayedOpening[],
  setting: PagingSetting<Window>,
): ReplayedPaging<Window>[] {
  return finish(replayPagingInSteps(incidents, setting));
}

/** Does the work of `replayPaging` in steps: one for each incident that opens or ends, and one for its times. */
export function* replayPagingInSteps<Window extends MaintenanceTimes & MaintenanceTarget>(
  incidents: readonly ReplayedOpening[],
  setting: PagingSetting<Window>,
): Steps<ReplayedPaging<Window>[]> {
  const open = new Set<Replayed<Window>>();
  const replayed: (Replayed<Window> | undefined)[] = [];
  const suppressionTimes = new SuppressionTimes(setting.windows);
  for (const event of eventsOf(incidents, setting.others)) {
    yield;
    if (event.kind === 'open') {
      const opened = openReplayed(event.index, event.incident, open, { suppressionTimes, others: setting.others });
      replayed[event.index] = opened;
      open.add(opened);
      continue;
    }
    const ended = event.kind === 'close' ? replayed[event.index] : undefined;
    if (ended !== undefined) {
      ended.isOpen = false;
      open.delete(ended);
    }
    release(
      open,
      (parent) => (event.kind === 'close' ? parent.replayed === ended : parent.real === event.real),
      event.at,
    );
  }
  const paging: ReplayedPaging<Window>[] = [];
  for (const replay of replayed) {
    if (replay !== undefined) paging.push({ start: replay.start, runs: runsOf(replay, setting) });
    yield;
  }
  return paging;
}

type Event =
  | { readonly at: Instant; readonly kind: 'open'; readonly index: number; readonly incident: ReplayedOpening }
  | { readonly at: Instant; readonly kind: 'close'; readonly index: number }
  | { readonly at: Instant; readonly kind: 'real_end'; readonly real: RealIncident };

function eventsOf(incidents: readonly ReplayedOpening[], others: readonly RealIncident[]): Event[] {
  const events: Event[] = [
    ...others.flatMap((real): Event[] =>
      real.resolvedAt === null ? [] : [{ at: real.resolvedAt, kind: 'real_end', real }],
    ),
    ...incidents.flatMap(({ closedAt }, index): Event[] =>
      closedAt === null ? [] : [{ at: closedAt, kind: 'close', index }],
    ),
    ...incidents.map((incident, index): Event => ({ at: incident.openedAt, kind: 'open', index, incident })),
  ];
  return events.toSorted((a, b) => a.at.epochMilliseconds - b.at.epochMilliseconds);
}

function openReplayed<Window extends MaintenanceTimes & MaintenanceTarget>(
  index: number,
  incident: ReplayedOpening,
  open: ReadonlySet<Replayed<Window>>,
  {
    suppressionTimes,
    others,
  }: { readonly suppressionTimes: SuppressionTimes<Window>; readonly others: readonly RealIncident[] },
): Replayed<Window> {
  const now = incident.openedAt;
  const state = { index, incident, isOpen: true };
  const quiet = suppressionTimes.find(incident, now);
  if (quiet !== null) {
    return { ...state, start: { kind: 'quiet', ...quiet }, from: quiet.until, parent: null, isSuppressed: true };
  }
  const parent = findParent(
    [...realParents<Window>(incident, others, now), ...replayedParents(incident, open)],
    incident,
    now,
  );
  if (parent === null) return { ...state, start: { kind: 'at_once' }, from: now, parent, isSuppressed: false };
  return { ...state, start: { kind: 'with_parent', parent: parent.real }, from: null, parent, isSuppressed: false };
}

function realParents<Window>(
  { serviceId }: ReplayedOpening,
  others: readonly RealIncident[],
  now: Instant,
): Parent<Window>[] {
  return others.flatMap((real) => {
    const isOpen =
      isAtOrBefore(real.triggeredAt, now) && (real.resolvedAt === null || !isAtOrBefore(real.resolvedAt, now));
    return real.serviceId === serviceId && isOpen ? [{ ...real, status: 'triggered', replayed: null, real }] : [];
  });
}

function replayedParents<Window>(
  { serviceId }: ReplayedOpening,
  open: ReadonlySet<Replayed<Window>>,
): Parent<Window>[] {
  return [...open].flatMap((replayed) => {
    const { incident, index, isSuppressed, parent } = replayed;
    if (incident.serviceId !== serviceId) return [];
    const { escalationPolicyId, severity, openedAt: triggeredAt, steps } = incident;
    const isBound = isSuppressed || parent !== null;
    const occurrence = { id: String(index), escalationPolicyId, severity, triggeredAt, steps, isBound };
    return [{ ...occurrence, status: 'triggered', replayed, real: null }];
  });
}

/** Lets the oldest child page once the incident that paged for it has ended, for the other children as well. */
function release<Window>(
  open: ReadonlySet<Replayed<Window>>,
  isEnded: (parent: Parent<Window>) => boolean,
  at: Instant,
): void {
  const children = [...open]
    .filter(({ parent }) => parent !== null && isEnded(parent))
    .map((replayed) => ({ replayed, status: 'triggered' as const }));
  const next = nextParent(children)?.replayed;
  if (next === undefined) return;
  Object.assign(next, { from: at, parent: null });
  const [parent] = replayedParents(next.incident, new Set([next]));
  for (const { replayed } of children) if (replayed !== next) replayed.parent = parent ?? null;
}

/** Returns the times in which its steps run. */
function runsOf<Window>(
  { incident, from }: Replayed<Window>,
  { acknowledgedAfterMinutes, now }: PagingSetting<Window>,
): PagingRun[] {
  const { closedAt, steps } = incident;
  const end = closedAt ?? now;
  if (steps === 0 || from === null || !isBefore(from, end)) return [];
  if (acknowledgedAfterMinutes === null) return [{ from, until: closedAt }];
  const runs: PagingRun[] = [];
  for (let at: Instant | null = from; at !== null && isBefore(at, end);) {
    const acknowledgedAt: Instant = at.add({ minutes: acknowledgedAfterMinutes });
    const isAnswered = isBefore(acknowledgedAt, end);
    runs.push({ from: at, until: isAnswered ? acknowledgedAt : closedAt });
    at = isAnswered ? staleAt(acknowledgedAt, incident) : null;
  }
  return runs;
}

function isBefore(a: Instant, b: Instant): boolean {
  return a.epochMilliseconds < b.epochMilliseconds;
}
