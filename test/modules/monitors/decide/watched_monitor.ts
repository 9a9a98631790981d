import {
  type CheckIn,
  decideCheckIn,
  decideOverdue,
  type LastRuns,
  type MonitorChange,
  type MonitorState,
  NEW_MONITOR,
  type Run,
} from '#modules/monitors/decide/monitor.ts';
import { type MonitorConfig, parseMonitorConfig } from '#modules/monitors/decide/schedule.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';
import { Temporal } from '#kernel/time.ts';

const START = Temporal.Instant.from('2027-06-01T12:00:00Z');
export const at = (minutes: number): Temporal.Instant => START.add({ seconds: Math.round(minutes * 60) });

export const config = (sent: Record<string, unknown>): MonitorConfig => unwrap(parseMonitorConfig(sent));

export const NO_RUNS: LastRuns = { missedAt: null, begunAt: null };

/** A monitor with its runs, as the stores keep them. */
export class Watched {
  state: MonitorState = NEW_MONITOR;
  readonly runs = new Map<string, Run>();
  readonly changes: MonitorChange[] = [];

  say(runId: string, status: CheckIn['status'], minutes: number, sent: MonitorConfig | null = null): MonitorChange {
    const checkIn = { status, durationMs: null, at: at(minutes), config: sent };
    const decision = decideCheckIn(this.state, this.runs.get(runId) ?? null, checkIn, this.last());
    this.state = decision.monitor;
    if (decision.run !== null) this.runs.set(runId, decision.run);
    this.changes.push(decision.change);
    return decision.change;
  }

  look(minutes: number): ReturnType<typeof decideOverdue> {
    const now = at(minutes);
    const decision = decideOverdue(this.state, this.running(), now);
    this.state = decision.monitor;
    for (const [id, run] of this.runs) {
      if (run.timeoutAt === null || run.timeoutAt.epochMilliseconds > now.epochMilliseconds) continue;
      this.runs.set(id, { ...run, status: 'timeout', endedAt: now, timeoutAt: null });
    }
    const { missedAt } = decision;
    if (missedAt !== null) {
      const missed = { status: 'missed', startedAt: missedAt, endedAt: now, timeoutAt: null } as const;
      this.runs.set(`missed ${missedAt.epochMilliseconds}`, missed);
    }
    this.changes.push(decision.change);
    return decision;
  }

  last(): LastRuns {
    const newest = (isMissed: boolean): Temporal.Instant | null => {
      const ofKind = [...this.runs.values()].filter(({ status }) => (status === 'missed') === isMissed);
      return ofKind.map(({ startedAt }) => startedAt).toSorted((a, b) => Temporal.Instant.compare(b, a))[0] ?? null;
    };
    return { missedAt: newest(true), begunAt: newest(false) };
  }

  running(): Run[] {
    return [...this.runs.values()].filter(({ timeoutAt }) => timeoutAt !== null);
  }
}
