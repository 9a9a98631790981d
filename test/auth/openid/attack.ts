import { describe, expect, test } from 'vitest';

import { expectRefused, type Flow, openFlow, type Sent } from '#test/auth/openid/flow.ts';
import type { Token } from '#test/auth/openid/provider.ts';
import { fileWorld } from '#test/kit/world.ts';

export const NOT_VERIFIED = /could not be verified/;
export const AWAY = /does not answer as it should/;

export interface Attack {
  readonly name: string;
  readonly attempt: (flow: Flow) => Promise<Sent>;
  /** Sentence that is said. */
  readonly says: RegExp;
}

/** Attempts that change what the provider says and nothing else, so that one flow takes all of them in turn. */
const byProvider = new WeakSet<Attack['attempt']>();

function ofProvider(attempt: Attack['attempt']): Attack['attempt'] {
  byProvider.add(attempt);
  return attempt;
}

/** Begins, and answers with what the provider sent back after it was changed. */
export const withAnswer = (change: (answer: URL, flow: Flow) => void): Attack['attempt'] =>
  ofProvider(async (flow) => {
    const browser = flow.newBrowser();
    const answer = await flow.provider.visit(await flow.begin(browser));
    change(answer, flow);
    return await flow.comeBack(browser, answer);
  });

export const withToken = (change: (token: Token, flow: Flow) => Token | string): Attack['attempt'] =>
  ofProvider(async (flow) => {
    flow.provider.changeToken((token) => change(token, flow));
    return await flow.signIn();
  });

export const withClaims = (claims: Record<string, unknown>): Attack['attempt'] =>
  withToken((token) => ({ ...token, claims: { ...token.claims, ...claims } }));

export const withAccount = (account: Record<string, unknown>): Attack['attempt'] =>
  ofProvider(async (flow) => {
    flow.provider.account = { ...flow.provider.account, ...account };
    return await flow.signIn();
  });

/** Tries each attack: nobody is let in, and the sentence is said. What changes more than answers has its own flow. */
export async function testAttacks(parts: Readonly<Record<string, readonly Attack[]>>): Promise<void> {
  const w = await fileWorld();
  let shared: Promise<Flow> | null = null;
  const flowInTurn = async (): Promise<Flow> => {
    const flow = await (shared ??= openFlow({ w, keepOpen: true }));
    flow.provider.reset();
    return flow;
  };
  describe.each(Object.entries(parts))('attacks on the %s let nobody in', (_part, attacks) => {
    test.each(attacks)('$name', async ({ attempt, says }) => {
      const flow = await (byProvider.has(attempt) ? flowInTurn() : openFlow());
      const answer = await attempt(flow);
      expect(String(answer.headers['set-cookie'] ?? '')).not.toContain('tocsin_session');
      expectRefused(answer, says);
    });
  });
  test('whoever attacks nothing is let in by the flow that refused all that', async () => {
    const answer = await (await flowInTurn()).signIn();
    expect(String(answer.headers['set-cookie'])).toContain('tocsin_session');
  });
}
