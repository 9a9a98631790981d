import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { AfterMinutes, ChannelName, STEP_DETAILS, stepDetailsView } from '#modules/policies/view.ts';
import type { Channel } from '#modules/contacts/decide/channel.ts';
import { peopleOnCall } from '#modules/schedules/decide/layered_shifts.ts';
import { maskAddress } from '#modules/contacts/decide/masking.ts';
import type { PageDecision } from '#modules/policies/decide/recipients.ts';
import { type SimulatedStep, simulateEscalation } from '#modules/policies/decide/simulate_escalation.ts';
import { peopleNext } from '#modules/policies/decide/audience.ts';
import type { PolicyPlan } from '#modules/policies/decide/run.ts';
import { readPolicySettings } from '#modules/policies/read_run.ts';
import { mayAnswer } from '#kernel/permissions.ts';
import { type Temporal, toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import type { TeamOnCall } from '#modules/schedules/store/on_call_reader.ts';
import type { ReachablePerson } from '#modules/accounts/store/people_store.ts';

const PersonName = nullable(Type.String({ description: 'null for somebody who has left' }));

const SimulatedStepView = Type.Object({
  step: Type.Integer({ description: 'index among all that fire, from 0; those of repetitions follow' }),
  afterMinutes: AfterMinutes,
  channels: Type.Array(ChannelName),
  useSchedule: Type.Boolean(),
  ...STEP_DETAILS,
  ofPolicyId: Type.Optional(Type.String({ description: 'the policy that a step went to, and that this one is of' })),
  round: Type.Optional(Type.Integer({ description: 'number of the repetition that it is of, from 1' })),
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
/** Limit on the steps shown, those of repetitions included. */
const STEPS_SHOWN_MAX = 300;

/** Simulates whom this policy would page if an incident opened then: the reads and the decisions of the engine. */
export async function readSimulation(
  policy: PolicyPlan,
  triggeredAt: Temporal.Instant,
  context: Pick<ActionContext, 'caller' | 'stores' | 'configuredChannels' | 'installation'>,
  severity = 'error',
): Promise<Static<typeof SimulationView>> {
  const settings = await readPolicySettings([policy], triggeredAt, context);
  const { simulatedChannels } = context.installation;
  return simulateEscalation(settings.settingOf(policy, severity), triggeredAt)
    .slice(0, STEPS_SHOWN_MAX)
    .map((simulated) => {
      const { teamId } = simulated.step.origin ?? simulated;
      return toView(simulated, settings.teamOf(teamId ?? policy.teamId), {
        people: settings.people,
        simulatedChannels,
      });
    });
}

interface Known {
  readonly people: ReadonlyMap<string, ReachablePerson>;
  readonly simulatedChannels: ReadonlySet<Channel>;
}

function toView(
  simulated: SimulatedStep,
  { schedules }: TeamOnCall,
  { people, simulatedChannels }: Known,
): Static<typeof SimulatedStepView> {
  const { stepIndex, step, round, pages, onCall } = simulated;
  const targets = new Set<string>(step.targetUserIds);
  const isNext = step.turn === 'next';
  const asked = onCall.map((asking) => asking.onCall);
  const duty = new Set<string>(isNext ? peopleNext(asked) : peopleOnCall(asked));
  const byPerson = [...Map.groupBy(pages, ({ userId }) => userId)];
  const nameOf = (userId: string) => people.get(userId)?.name ?? null;
  return {
    step: stepIndex,
    afterMinutes: step.afterMinutes,
    channels: [...new Set(step.channels)],
    useSchedule: step.useSchedule,
    ...stepDetailsView(step),
    ...(step.origin && { ofPolicyId: step.origin.policyId }),
    ...(round > 0 && { round }),
    plannedAt: toTimestamp(simulated.plannedAt),
    firesAt: toTimestampOrNull(simulated.firesAt),
    broughtForwardBy: simulated.broughtForwardBy,
    onCall: onCall.flatMap(({ scheduleIndex, onCall: { shift, next } }): Static<typeof SimulatedStepView>['onCall'] => {
      const schedule = schedules[scheduleIndex]?.schedule;
      if (schedule === undefined) return [];
      const of = { scheduleId: schedule.id, name: schedule.name };
      if (isNext) {
        const following = next?.userIds ?? [null];
        return following.map((userId) => {
          return { ...of, userId, personName: userId && nameOf(userId), source: null, until: null };
        });
      }
      if (shift === null) {
        return [{ ...of, userId: null, personName: null, source: null, until: toTimestampOrNull(next && next.at) }];
      }
      const { userIds, source, until } = shift;
      return userIds.map((userId) => {
        return { ...of, userId, personName: nameOf(userId), source, until: toTimestampOrNull(until) };
      });
    }),
    personCount: byPerson.length,
    people: byPerson.slice(0, PEOPLE_SHOWN_MAX).map(([userId, own]) => {
      const role = people.get(userId)?.role;
      return {
        userId,
        name: nameOf(userId),
        isOnCall: duty.has(userId) && !targets.has(userId),
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
