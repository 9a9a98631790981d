import { replaceEscalationPolicy } from '#modules/policies/operations/update_escalation_policy.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type Alert, type Responder, type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';

type Options = Parameters<typeof staffedWorld>[0] & {
  /** Time at which it begins; that of the machine by default. */
  readonly at?: string;
};

/** A team of responders, and what a person does in the console. */
export interface DetailedWorld extends StaffedWorld {
  readonly teamId: string;
  person(name: string, teamId?: string): Promise<Responder>;
  /** Creates a schedule of one person, or of several who take turns by the day. */
  schedule(name: string, people: readonly Responder[], teamId?: string): Promise<string>;
  /** Creates a policy, and a rule that pages by it, as the console stores it. */
  alertBy(steps: readonly object[], details?: object): Promise<Alert>;
  /** Stores a policy as the console does. */
  replace(policyId: string, steps: readonly object[], details?: object): Promise<void>;
  /** Creates a policy, for a team of its own if that is given. */
  policy(name: string, steps: readonly object[], details?: object, teamId?: string): Promise<string>;
  /** Returns who got messages by SMS so far, by name, in order. */
  paged(): string[];
  /** Returns the sentences of an incident's timeline. */
  texts(incidentId: string): Promise<string[]>;
}

const PLAIN = [{ afterMinutes: 0, channels: ['sms'], useSchedule: true }] as const;

export async function detailedWorld({ at, ...options }: Options = {}): Promise<DetailedWorld> {
  const w = await staffedWorld(options);
  if (at !== undefined) w.clock.set(at);
  const teamId = await w.staff.team();
  const editor = await w.given.user({ name: 'Edith', role: 'editor' });
  const people: Responder[] = [];
  const caller = memberCaller(w.orgId, editor.userId, 'editor');
  const replace = async (policyId: string, steps: readonly object[], details: object = {}) => {
    const [row] = await w.context.db.sql.rows<{ name: string; at: Date }>(
      `select name, to_json(updated_at at time zone 'UTC')#>>'{}' || 'Z' as at from escalation_policies where id = $1`,
      [policyId],
    );
    const basedOn = new Date(String(row?.at)).toISOString();
    await runOperation(w, replaceEscalationPolicy, caller, { policyId, basedOn, name: row?.name, steps, ...details });
  };
  return {
    ...w,
    teamId,
    async person(name, of = teamId) {
      const responder = await w.staff.responder(of, name);
      people.push(responder);
      return responder;
    },
    async schedule(name, own, of = teamId) {
      const rotationConfig = { userIds: own.map(({ userId }) => userId) };
      const input = { teamId: of, name, rotationConfig, startAt: w.clock.now().toString() };
      return (await w.expectOk('create_schedule', input)).scheduleId;
    },
    async alertBy(steps, details) {
      const alert = await w.staff.alert(teamId, PLAIN);
      await replace(alert.policyId, steps, details);
      return alert;
    },
    replace,
    async policy(name, steps, details, of = teamId) {
      const { policyId } = await w.expectOk('create_escalation_policy', { teamId: of, name, steps: PLAIN });
      await replace(policyId, steps, details);
      return policyId;
    },
    paged: () =>
      w.phone.messages.flatMap(({ to, direction }) => {
        const person = direction === 'inbound' ? undefined : people.find(({ phone }) => phone === to);
        return person === undefined ? [] : [person.name];
      }),
    async texts(incidentId) {
      const { timeline } = await w.expectOk('get_incident', { incidentId });
      return timeline.map(({ text }: { text: string }) => text);
    },
  };
}
