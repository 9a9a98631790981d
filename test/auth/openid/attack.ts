import { describe, expect, test } from 'vitest';

import { expectRefused, type Flow, openFlow, type Sent } from '#test/auth/openid/flow.ts';
import type { Token } from '#test/auth/openid/provider.ts';
import { openBrowser } from '#test/kit/programs/browser.ts';

export const NOT_VERIFIED = /could not be verified/;
export const AWAY = /does not answer as it should/;

export interface Attack {
  readonly name: string;
  readonly attempt: (flow: Flow) => Promise<Sent>;
  /** Sentence that is said. */
  readonly says: RegExp;
}

/** Begins, and answers with what the provider sent back after it was changed. */
export const withAnswer =
  (change: (answer: URL, flow: Flow) => void) =>
  async (flow: Flow): Promise<Sent> => {
    const browser = openBrowser(flow.w);
    const answer = await flow.provider.visit(await flow.begin(browser));
    change(answer, flow);
    return await flow.comeBack(browser, answer);
  };

export const withToken =
  (change: (token: Token, flow: Flow) => Token | string) =>
  async (flow: Flow): Promise<Sent> => {
    flow.provider.changeToken((token) => change(token, flow));
    return await flow.signIn();
  };

export const withClaims = (claims: Record<string, unknown>) =>
  withToken((token) => ({ ...token, claims: { ...token.claims, ...claims } }));

export const withAccount =
  (account: Record<string, unknown>) =>
  async (flow: Flow): Promise<Sent> => {
    flow.provider.account = { ...flow.provider.account, ...account };
    return await flow.signIn();
  };

/** Runs each attack on a flow of its own: nobody is let in, and the sentence is said. */
export function testAttacks(parts: Readonly<Record<string, readonly Attack[]>>): void {
  describe.each(Object.entries(parts))('attacks on the %s let nobody in', (_part, attacks) => {
    test.each(attacks)('$name', async ({ attempt, says }) => {
      const flow = await openFlow();
      const answer = await attempt(flow);
      expect(String(answer.headers['set-cookie'] ?? '')).not.toContain('tocsin_session');
      expectRefused(answer, says);
    });
  });
}
