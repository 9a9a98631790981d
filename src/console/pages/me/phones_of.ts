import type { Me } from '#console/api/organization.ts';

/** The person's numbers, in all of their teams and of their own, each once. */
export function phonesOf({ teams, own }: Pick<Me, 'teams' | 'own'>): string[] {
  return [...new Set([own, ...teams.map(({ contact }) => contact)].flatMap(({ phone }) => phone ?? []))];
}
