import { changedPaging } from '#modules/configuration/decide/changed_paging.ts';
import { changedTurns } from '#modules/configuration/decide/changed_turns.ts';
import type { Plan } from '#modules/configuration/decide/plan.ts';
import type { OrganizationState } from '#modules/configuration/decide/present_state.ts';
import { whoCannotAnswer } from '#modules/configuration/decide/who_cannot_answer.ts';
import type { Steps } from '#kernel/cooperative_task.ts';
import type { Temporal } from '#kernel/time.ts';

/** Limit on the sentences of one kind; the rest are counted. */
const SENTENCES_MAX = 100;

/**
 * Tells what a plan means for people: whose shifts change, who is no longer reached, and what pages less. Whoever writes the
 * file decides how many shifts there are to compare, so that each schedule is a step.
 */
export function* meaningOf(plan: Plan, state: OrganizationState, now: Temporal.Instant): Steps<string[]> {
  return [
    ...shortened(yield* changedTurns(plan, state, now), 'more changes of shifts'),
    ...shortened(unreached(plan, state), 'more people are in no schedule and no step any more'),
    ...shortened(changedPaging(plan), 'more changes that page less'),
    ...shortened(whoCannotAnswer(plan, state), 'more people who are paged and may not answer'),
  ];
}

function shortened(sentences: readonly string[], rest: string): string[] {
  if (sentences.length <= SENTENCES_MAX) return [...sentences];
  return [...sentences.slice(0, SENTENCES_MAX), `And ${sentences.length - SENTENCES_MAX} ${rest}.`];
}

/** Tells of people whom some schedule or step reaches now, and none will. */
function unreached({ matches, changes }: Plan, state: OrganizationState): string[] {
  const names = new Map(state.people.map(({ userId, name }) => [userId, name]));
  const deleted = new Set(changes.filter(({ action }) => action === 'delete').map(({ id }) => id));
  const touched = new Set(
    changes.flatMap(({ id, kind, wanted }) =>
      (kind === 'schedule' && !(wanted?.kind === 'schedule' && wanted.fields.layers === undefined)) || kind === 'policy'
        ? [id]
        : [],
    ),
  );
  if (touched.size === 0) return [];
  const [before, after] = [new Set<string>(), new Set<string>()];
  const stay = (id: string) => !deleted.has(id) && !touched.has(id);
  for (const { id, layers } of state.schedules) {
    for (const userId of layers.flatMap(({ turns }) => turns.flatMap(({ userIds }) => userIds))) {
      before.add(userId);
      if (stay(id)) after.add(userId);
    }
  }
  for (const { id, steps } of state.policies) {
    for (const userId of steps.flatMap(({ targetUserIds }) => targetUserIds)) {
      before.add(userId);
      if (stay(id)) after.add(userId);
    }
  }
  for (const { wanted } of matches.matched) {
    const refs =
      wanted.kind === 'schedule'
        ? (wanted.fields.layers ?? []).flatMap(({ turns }) => turns.flat())
        : wanted.kind === 'policy'
          ? wanted.fields.steps.flatMap(({ people }) => people)
          : [];
    for (const ref of refs) after.add(matches.findId('person', ref) ?? ref);
  }
  return [...before]
    .filter((userId) => !after.has(userId) && names.has(userId))
    .map((userId) => `${names.get(userId) ?? userId} is in no schedule and no step of a policy any more.`);
}
