import type { World } from '#test/kit/world.ts';

export const UNKNOWN_USER = 'user_00000000000000000000000000';

/** A Wednesday. */
export const NOW = '2026-03-04T12:00:00Z';

/** An organization at `NOW` with a team, and three people who can be on call. */
export async function givenTeam(shared: World) {
  const w = await shared.forOrganization();
  w.clock.set(NOW);
  const { teamId } = await w.expectOk('create_team', { name: 'Payments' });
  const [anna, bram, cleo] = await Promise.all(['Anna', 'Bram', 'Cleo'].map((name) => w.given.user({ name })));
  return { w, teamId: teamId as string, anna: anna!, bram: bram!, cleo: cleo! };
}

export function person({ userId, name, email }: Awaited<ReturnType<World['given']['user']>>) {
  return { userId, name, email };
}

export function pathsOf(answer: { body: { errors: { path: string }[] } }): string[] {
  return answer.body.errors.map(({ path }) => path).sort();
}
