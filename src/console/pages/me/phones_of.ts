import type { Me } from '#console/api/organization.ts';

/** Returns the person's numbers, of all of their teams and their own, each once. */
export function phonesOf({ teams, own }: Pick<Me, 'teams' | 'own'>): string[] {
  return [...new Set([own, ...teams.map(({ contact }) => contact)].flatMap(({ phone }) => phone ?? []))];
}
