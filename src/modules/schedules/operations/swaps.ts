import { type Static, Type } from 'typebox';

import { type ActionContext, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, IdText, StrictObject, Timestamp } from '#actions/fields.ts';
import { requireUsers } from '#actions/require_users.ts';
import { AppError, invalidInput } from '#kernel/errors.ts';
import { isAtOrBefore, toTimestamp } from '#kernel/time.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';
import { parseOverrideWindow } from '#modules/schedules/decide/schedule_times.ts';
import { type HandedOverTime, onCallThroughout } from '#modules/schedules/decide/swap.ts';
import type { ScheduleRow } from '#modules/schedules/store/schedule_store.ts';
import { withShiftNotices, type TouchedTime } from '#modules/schedules/shift_notices.ts';
import { OnCallWarnings, readOnCallWarnings } from '#modules/teams/warnings.ts';

const SIDES = ['first', 'second'] as const;

/** Longest shift in days: a longer one would take very many turns to look through. */
const DAYS_MAX = 366;
const SHIFTS_MAX = 1_000;

const ShiftInput = StrictObject({ scheduleId: IdText, userId: IdText, startAt: Timestamp, endAt: Timestamp });

const OverrideView = Type.Object({ overrideId: IdText, ...ShiftInput.properties });

export const swapShifts = defineOperation({
  name: 'swap_shifts',
  summary:
    'Swap two shifts of two people: each is put on call during the shift of the other, by two overrides that are made together or not at all.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({ first: ShiftInput, second: ShiftInput }),
  result: Type.Object({ first: OverrideView, second: OverrideView, warnings: OnCallWarnings }),
  conflict: 'one of the two is not on call then any more',
  example: {
    first: {
      scheduleId: IDS.scheduleId,
      userId: IDS.userId,
      startAt: '2027-02-01T08:00:00.000Z',
      endAt: '2027-02-08T08:00:00.000Z',
    },
    second: {
      scheduleId: IDS.scheduleId,
      userId: IDS.otherUserId,
      startAt: '2027-02-08T08:00:00.000Z',
      endAt: '2027-02-15T08:00:00.000Z',
    },
  },
  async handle({ first, second }, context) {
    const { stores, now, record } = context;
    const windows = { first: readWindow('first', first), second: readWindow('second', second) };
    const schedules = await lockSchedules({ first, second }, context);
    const [firstUser, secondUser] = await requireUsers(
      SIDES.map((side) => ({ path: `${side}.userId`, userId: { first, second }[side].userId })),
      context,
    );
    if (firstUser === undefined || secondUser === undefined) throw new Error('a user that was required is missing');
    if (firstUser === secondUser) {
      throw invalidInput([{ path: 'second.userId', message: 'must be a different person than the first' }]);
    }
    await requireOnCall(schedules.first, { ...windows.first, userId: firstUser }, context);
    await requireOnCall(schedules.second, { ...windows.second, userId: secondUser }, context);

    const put = async (side: (typeof SIDES)[number], userId: typeof firstUser) => {
      const { id, startAt, endAt } = await stores.schedules.insertOverride(
        schedules[side],
        { userId, ...windows[side] },
        now,
      );
      const window = { startAt: toTimestamp(startAt), endAt: toTimestamp(endAt) };
      const after = { overrideId: id, scheduleId: schedules[side].id, userId, ...window };
      record({ target: id, before: null, after });
      return after;
    };
    const times = SIDES.map((side) => ({ schedule: schedules[side], ...windows[side] }));
    const swapped = await withShiftNotices(context, times, async () => {
      const result = { first: await put('first', secondUser), second: await put('second', firstUser) };
      return { changeId: result.first.overrideId, result };
    });
    const warnings = [
      ...(await readOnCallWarnings([secondUser], schedules.first.teamId, context)),
      ...(await readOnCallWarnings([firstUser], schedules.second.teamId, context)),
    ];
    return { ...swapped, warnings };
  },
});

function readWindow(side: string, input: Static<typeof ShiftInput>): Pick<HandedOverTime, 'startAt' | 'endAt'> {
  const read = parseOverrideWindow(input, 'UTC');
  if (read.kind === 'faults') {
    throw invalidInput(read.faults.map(({ path, message }) => ({ path: `${side}.${path}`, message })));
  }
  const { startAt, endAt } = unwrap(read);
  if (isAtOrBefore(endAt, startAt.add({ hours: DAYS_MAX * 24 }))) return { startAt, endAt };
  throw invalidInput([{ path: `${side}.endAt`, message: `must be at most ${DAYS_MAX} days after startAt` }]);
}

/** Locks both schedules, always in the same order, so that two swaps never wait for each other. */
async function lockSchedules(
  sides: Readonly<Record<(typeof SIDES)[number], { readonly scheduleId: string }>>,
  { stores, caller }: ActionContext,
): Promise<Record<(typeof SIDES)[number], ScheduleRow>> {
  const locked = new Map<string, ScheduleRow>();
  for (const side of SIDES.toSorted((a, b) => (sides[a].scheduleId < sides[b].scheduleId ? -1 : 1))) {
    const { scheduleId } = sides[side];
    locked.set(side, await stores.schedules.lock(caller.orgId, scheduleId, `${side}.scheduleId`));
  }
  const [first, second] = [locked.get('first'), locked.get('second')];
  if (first === undefined || second === undefined) throw new Error('a schedule that was locked is missing');
  return { first, second };
}

async function requireOnCall(
  schedule: ScheduleRow,
  handedOver: HandedOverTime,
  { stores, caller, now }: ActionContext,
): Promise<void> {
  const range = { from: handedOver.startAt, to: handedOver.endAt, at: now, limit: SHIFTS_MAX };
  const { schedules, people } = await stores.onCall.overTime(caller.orgId, [schedule], range);
  const answer = onCallThroughout(schedules[0]?.shifts ?? [], handedOver);
  if (answer === 'alone') return;
  const name = people.get(handedOver.userId)?.name ?? 'this person';
  if (answer === 'with_others') {
    const message = `${name} is on call together with others then, whom a swap would take off call; change the turn in the layers of the schedule`;
    throw new AppError('conflict', message);
  }
  throw new AppError('conflict', `${name} is no longer on call then; look at the schedule and choose again`);
}

export const undoShiftSwap = defineOperation({
  name: 'undo_shift_swap',
  summary: 'Remove the two overrides of a swap, together or not at all.',
  permission: 'oncall:edit',
  effect: 'delete',
  input: StrictObject({ firstOverrideId: IdText, secondOverrideId: IdText }),
  result: Type.Object({ deleted: Type.Literal(true) }),
  example: { firstOverrideId: IDS.overrideId, secondOverrideId: IDS.overrideId },
  async handle(input, context) {
    const { stores, caller, record } = context;
    const paths = ['firstOverrideId', 'secondOverrideId'] as const;
    const times: TouchedTime[] = [];
    for (const path of paths) {
      const override = await stores.schedules.getOverride(caller.orgId, input[path], path);
      times.push({ ...override, schedule: await stores.schedules.lock(caller.orgId, override.scheduleId) });
    }
    return await withShiftNotices(context, times, async () => {
      for (const path of paths) {
        const { id, scheduleId, userId, startAt, endAt } = await stores.schedules.deleteOverride(
          caller.orgId,
          input[path],
          path,
        );
        const window = { startAt: toTimestamp(startAt), endAt: toTimestamp(endAt) };
        record({ target: id, before: { overrideId: id, scheduleId, userId, ...window }, after: null });
      }
      return { changeId: `${input.firstOverrideId}.undone`, result: { deleted: true as const } };
    });
  },
});
