import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { readReadiness } from '#modules/teams/readiness_view.ts';
import { READINESS_ANSWERS, READINESS_REASONS } from '#modules/contacts/decide/readiness_words.ts';
import type { Id } from '#kernel/ids.ts';
import { keysOf } from '#kernel/keys_of.ts';

export const HomeReadinessView = Type.Object(
  {
    answer: Type.Enum([...READINESS_ANSWERS]),
    reasons: Type.Array(Type.Enum(keysOf(READINESS_REASONS))),
  },
  {
    description:
      'whether a page would wake the caller: in the teams that they are on call for, else in the worst of theirs',
  },
);

const FROM_WORST = ['no', 'unproved', 'yes'] as const;

/** Judges how the caller is reached by the settings of each of these teams, and returns the worst. */
export async function readHomeReadiness(
  userId: Id<'user'>,
  onCallTeamIds: ReadonlySet<string>,
  context: ActionContext,
): Promise<Static<typeof HomeReadinessView>> {
  const { caller, stores } = context;
  const person = (await stores.people.listReachable(caller.orgId, [userId])).get(userId);
  if (person === undefined) throw new Error('the caller is not a member of the organization');
  const readinessOf = await readReadiness([person], context);
  const places = await stores.teams.listPlacesOf(caller.orgId, userId);
  const isMember = new Set<string>(places.map(({ teamId }) => teamId));
  const onCallFor = places.filter(({ teamId }) => onCallTeamIds.has(teamId));
  const isStandIn = [...onCallTeamIds].some((teamId) => !isMember.has(teamId));
  const judged = (onCallTeamIds.size > 0 ? onCallFor : places).map((place) => readinessOf(person, place));
  if (isStandIn || judged.length === 0) judged.push(readinessOf(person, null));
  const [worst] = judged.toSorted((a, b) => FROM_WORST.indexOf(a.answer) - FROM_WORST.indexOf(b.answer));
  if (worst === undefined) throw new Error('nothing was judged');
  return { answer: worst.answer, reasons: worst.reasons };
}
