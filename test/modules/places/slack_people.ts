import { expect } from 'vitest';

import type { Role } from '#kernel/permissions.ts';
import { beginChatLink, createPlace } from '#modules/places/operations/places.ts';
import { SLACK_CHANNEL, SLACK_SECRET, SLACK_TOKEN, type Slack } from '#test/kit/programs/slack.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import type { StaffedWorld } from '#test/kit/staffed_world.ts';

/** Makes a place in Slack that takes everything of an organization, and returns its id. */
export async function makeSlackPlace(
  w: StaffedWorld,
  of: Pick<StaffedWorld, 'orgId' | 'owner'> = w,
  name = 'Operations',
): Promise<string> {
  const settings = { channel: SLACK_CHANNEL, token: SLACK_TOKEN, signingSecret: SLACK_SECRET };
  const routes = [{ serviceId: null, teamId: null, atLeast: null }];
  const owner = memberCaller(of.orgId, of.owner.userId, 'owner');
  return (await runOperation(w, createPlace, owner, { kind: 'slack', name, settings, routes })).place.placeId;
}

/** Makes a person in this role whose account in Slack is linked. */
export async function linkedPerson(w: StaffedWorld, slack: Slack, placeId: string, user: string, role: Role) {
  const person = await w.given.user({ name: user, role });
  const caller = memberCaller(w.orgId, person.userId, role);
  const { code } = await runOperation(w, beginChatLink, caller, { kind: 'slack' });
  expect(await slack.command(w.app, placeId, { user, text: `link ${code}` })).toContain(`act for ${user}`);
  return { ...person, caller };
}
