import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { AfterMinutes, ChannelName } from '#modules/policies/view.ts';
import type { Channel } from '#modules/contacts/decide/channel.ts';
import { contactsOf } from '#modules/contacts/decide/contact.ts';
import type { EscalationStep } from '#modules/policies/decide/escalation.ts';
import { maskAddress } from '#modules/contacts/decide/masking.ts';
import type { PageDecision } from '#modules/policies/decide/recipients.ts';
import { type SimulatedStep, simulateEscalation } from '#modules/policies/decide/simulate_escalation.ts';
import type { Id } from '#kernel/ids.ts';
import { mayAnswer } from '#kernel/permissions.ts';
import { type Temporal, toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import type { TeamOnCall } from '#modules/schedules/store/on_call_reader.ts';
import type { Person, ReachablePerson } from '#modules/accounts/store/people_store.ts';
import { rotationOf } from '#modules/schedules/store/schedule_store.ts';

const PersonName = nullable(Type.String({ description: 'null for somebody who has left' }));

const SimulatedStepView = Type.Object({
  step: Type.Integer({ description: 'index in the policy, from 0' }),
  afterMinutes: AfterMinutes,
  channels: Type.Array(ChannelName),
  useSchedule: Type.Boolean(),
  plannedAt: Timestamp,
  firesAt: nullable(Type.String({ format: 'date-time', description: 'null: so far ahead that it never fires' })),
  broughtForwardBy: nullable(
    Type.Integer({ description: 'index of the step that did not reach everybody, so that this one fires early' }),
  ),
  onCall: Type.Array(
    Type.Object({
      scheduleId: IdText,
      name: Type.String({ description: 'of the schedule' }),
      userId: nullable(IdText),
      personName: PersonName,
      source: nullable(Type.Enum(['rotation', 'override'])),
      until: nullable(Timestamp),
    }),
    { description: 'the schedules of the team when the step fires; none for a step that asks none' },
  ),
  personCount: Type.Integer({ description: 'how many people the step is for' }),
  people: Type.Array(
    Type.Object({
      userId: IdText,
      name: PersonName,
      isOnCall: Type.Boolean({ description: 'the step is for them because they are on call, not by name' }),
      mayAnswer: Type.Boolean({ description: 'whether their role lets them acknowledge' }),
      channels: Type.Array(
        Type.Object({
          channel: ChannelName,
          outcome: Type.Enum(['notify', 'skipped', 'failed']),
          to: nullable(Type.String({ description: 'masked; null for push and for what is not sent' })),
          reason: nullable(Type.String({ description: 'why nothing is sent' })),
          isSimulated: Type.Boolean({ description: 'it goes to the phone simulator, and so to nobody' }),
        }),
      ),
    }),
    { description: 'the first 100' },
  ),
  messageCount: Type.Integer({ description: 'how many messages leave' }),
  nobodyReached: nullable(Type.String({ description: 'why the step is skipped; then the next one fires at once' })),
  unreachable: Type.Array(IdText, {
    description: 'people of the step of whom every channel fails: the next step fires at once',
  }),
});

/** The steps in the order in which they fire while nobody answers. */
export const SimulationView = Type.Array(SimulatedStepView);

const PEOPLE_SHOWN_MAX = 100;

interface Escalation {
  readonly teamId: Id<'team'>;
  readonly steps: readonly EscalationStep[];
}

/** Simulates whom these steps would page if an incident opened then: the reads and the decisions of the engine. */
export async function readSimulation(
  { teamId, steps }: Escalation,
  triggeredAt: Temporal.Instant,
  {
    caller: { orgId },
    stores,
    configuredChannels,
    installation,
  }: Pick<ActionContext, 'caller' | 'stores' | 'configuredChannels' | 'installation'>,
): Promise<Static<typeof SimulationView>> {
  const team = await stores.onCall.ofTeam(orgId, teamId, triggeredAt);
  const named = await stores.people.listPeople(
    orgId,
    steps.flatMap(({ targetUserIds }) => targetUserIds),
  );
  const people = new Map([...named, ...team.people]);
  const userIds = [...people.values()].map(({ userId }) => userId);
  const reachable = await stores.people.listReachable(orgId, userIds);
  const subscribers = await stores.pushSubscriptions.listSubscribers(userIds);
  const members = await stores.teams.listMembers(orgId, [teamId]);
  const setting = {
    steps,
    schedules: team.schedules.map(({ schedule, overrides }) => ({ rotation: rotationOf(schedule), overrides })),
    contacts: contactsOf([...reachable.values()], subscribers, members),
    configured: configuredChannels,
    isPresent: (userId: string) => team.people.has(userId),
  };
  return simulateEscalation(setting, triggeredAt).map((simulated) =>
    toView(simulated, steps, people, { team, reachable, simulatedChannels: installation.simulatedChannels }),
  );
}

interface Known {
  readonly team: TeamOnCall;
  readonly reachable: ReadonlyMap<string, ReachablePerson>;
  readonly simulatedChannels: ReadonlySet<Channel>;
}

function toView(
  simulated: SimulatedStep,
  steps: readonly EscalationStep[],
  people: ReadonlyMap<string, Person>,
  { team: { schedules }, reachable, simulatedChannels }: Known,
): Static<typeof SimulatedStepView> {
  const { stepIndex, pages, onCall } = simulated;
  const step = steps[stepIndex];
  if (step === undefined) throw new Error(`step ${stepIndex} was simulated and is not of the policy`);
  const targets = new Set<string>(step.targetUserIds);
  const byPerson = [...Map.groupBy(pages, ({ userId }) => userId)];
  const nameOf = (userId: string) => people.get(userId)?.name ?? null;
  return {
    step: stepIndex,
    afterMinutes: step.afterMinutes,
    channels: [...new Set(step.channels)],
    useSchedule: step.useSchedule,
    plannedAt: toTimestamp(simulated.plannedAt),
    firesAt: toTimestampOrNull(simulated.firesAt),
    broughtForwardBy: simulated.broughtForwardBy,
    onCall: onCall.flatMap(({ shift }, index) => {
      const schedule = schedules[index]?.schedule;
      if (schedule === undefined) return [];
      return {
        scheduleId: schedule.id,
        name: schedule.name,
        userId: shift && shift.userId,
        personName: shift && nameOf(shift.userId),
        source: shift && shift.source,
        until: toTimestampOrNull(shift && shift.until),
      };
    }),
    personCount: byPerson.length,
    people: byPerson.slice(0, PEOPLE_SHOWN_MAX).map(([userId, own]) => {
      const role = reachable.get(userId)?.role;
      return {
        userId,
        name: nameOf(userId),
        isOnCall: !targets.has(userId),
        mayAnswer: role === undefined || mayAnswer(role),
        channels: own.map((page) => toChannelView(page, simulatedChannels)),
      };
    }),
    messageCount: pages.filter(({ kind }) => kind === 'notify').length,
    nobodyReached: simulated.nobodyReached,
    unreachable: simulated.unreachable.slice(0, PEOPLE_SHOWN_MAX),
  };
}

function toChannelView(page: PageDecision, simulatedChannels: ReadonlySet<Channel>) {
  const { channel, kind } = page;
  const isSimulated = kind === 'notify' && simulatedChannels.has(channel);
  return kind === 'notify'
    ? { channel, outcome: kind, to: maskAddress(channel, page.to), reason: null, isSimulated }
    : { channel, outcome: kind, to: null, reason: page.reason, isSimulated };
}
