import { Moved, type ReadingTime } from '#modules/moving_in/decide/moved.ts';
import { collectPagerDuty } from '#modules/moving_in/decide/pagerduty/collect.ts';
import { addPagerDutyPeople } from '#modules/moving_in/decide/pagerduty/people.ts';
import { addPagerDutyPolicies, addPagerDutyServices } from '#modules/moving_in/decide/pagerduty/policies.ts';
import { addPagerDutySchedules } from '#modules/moving_in/decide/pagerduty/schedules.ts';
import { addShiftBasedSchedules } from '#modules/moving_in/decide/pagerduty/schedules_v3.ts';
import { idInPath, objectOf, type RawDocument, textOf } from '#modules/moving_in/decide/raw.ts';

/** Turns answers of PagerDuty's API into a file; null if none of the documents is one. */
export function readPagerDuty(documents: readonly RawDocument[], time: ReadingTime): Moved | null {
  const answers = collectPagerDuty(documents);
  if (documents.length === answers.unknown.length) return null;
  const moved = new Moved({ prefix: 'pagerduty', title: 'PagerDuty' }, time);
  addPagerDutyPeople(moved, answers);
  for (const team of answers.teams) {
    if (textOf(team, 'id') !== '') moved.addTeam(textOf(team, 'id'), textOf(team, 'name') || textOf(team, 'summary'));
  }
  const teamIn = idInPath(answers.teams.map((team) => textOf(team, 'id')));
  for (const { path, values } of answers.members) {
    const teamId = teamIn(path);
    for (const member of values) {
      const user = objectOf(member['user']) ?? member;
      moved.addMember(teamId ?? path, textOf(user, 'id'), textOf(user, 'summary') || textOf(user, 'name'));
    }
  }
  addPagerDutySchedules(moved, answers);
  addShiftBasedSchedules(moved, answers);
  addPagerDutyPolicies(moved, answers);
  addPagerDutyServices(moved, answers);
  if (answers.users.length === 0)
    moved.ledger
      .see('list', 'users', 'users')
      .refuse('No answer with users was found, so nobody of the schedules can be named.', 'Read the users, too.');
  for (const list of new Set(answers.incomplete)) {
    moved.ledger
      .see('list', list, list)
      .refuse(
        `The last page of ${list} says that more follow, and none does: some are missing.`,
        'Read the list to its end, and then again.',
      );
  }
  for (const path of answers.unknown) {
    moved.ledger
      .see('file', path, path)
      .refuse('Nothing in it looks like an answer of PagerDuty.', 'Nothing, if it belongs to something else.');
  }
  return moved;
}
