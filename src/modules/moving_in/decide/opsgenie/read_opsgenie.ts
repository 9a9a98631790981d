import { Moved, type ReadingTime } from '#modules/moving_in/decide/moved.ts';
import { collectOpsgenie, type OpsgenieAnswers } from '#modules/moving_in/decide/opsgenie/collect.ts';
import { addOpsgeniePeople, participantReader, userIdOf } from '#modules/moving_in/decide/opsgenie/people.ts';
import { addOpsgeniePolicies, addOpsgenieServices } from '#modules/moving_in/decide/opsgenie/policies.ts';
import { addOpsgenieSchedules } from '#modules/moving_in/decide/opsgenie/schedules.ts';
import { objectOf, objectsOf, type RawDocument, textOf } from '#modules/moving_in/decide/raw.ts';

/** Turns answers of Opsgenie or JSM Operations, or a backup of its configuration, into a file; null if there are none. */
export function readOpsgenie(documents: readonly RawDocument[], time: ReadingTime): Moved | null {
  const answers = collectOpsgenie(documents);
  if (documents.length === answers.unknown.length) return null;
  const moved = new Moved({ prefix: 'opsgenie', title: 'Opsgenie' }, time);
  addOpsgeniePeople(moved, answers);
  addTeams(moved, answers);
  addOpsgenieSchedules(moved, answers, participantReader(moved, answers));
  addOpsgeniePolicies(moved, answers);
  addOpsgenieServices(moved, answers);
  for (const { path, value } of answers.forwarding) {
    const id = textOf(value, 'id') || textOf(value, 'alias') || path;
    const name = `${textOf(objectOf(value['fromUser']), 'username')} to ${textOf(objectOf(value['toUser']), 'username')}`;
    moved.ledger
      .see('forwarding', id, name)
      .refuse(
        "Forwarding of one person's messages to another is not taken over.",
        'Enter overrides for the shifts in that time.',
      );
  }
  if (answers.user.length === 0)
    moved.ledger
      .see('list', 'users', 'users')
      .refuse('No answer with users was found, so nobody of the schedules can be named.', 'Read the users, too.');
  for (const list of new Set(answers.incomplete)) {
    moved.ledger
      .see('list', list, list)
      .refuse(`Less was read than the list holds: ${list}.`, 'Read the list to its end, and then again.');
  }
  for (const path of answers.unknown) {
    moved.ledger
      .see('file', path, path)
      .refuse('Nothing in it looks like an answer of Opsgenie.', 'Nothing, if it belongs to something else.');
  }
  return moved;
}

function addTeams(moved: Moved, answers: OpsgenieAnswers): void {
  for (const { value } of answers.team) {
    const id = textOf(value, 'id') || textOf(value, 'teamId');
    if (id !== '') moved.addTeam(id, textOf(value, 'name') || textOf(value, 'teamName'));
  }
  for (const { value } of answers.team) {
    const id = textOf(value, 'id') || textOf(value, 'teamId');
    for (const member of objectsOf(value['members'])) {
      const user = objectOf(member['user']) ?? member;
      moved.addMember(id, userIdOf(user), textOf(user, 'username') || userIdOf(user));
    }
  }
}
