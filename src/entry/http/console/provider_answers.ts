import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { runAccountOperation } from '#actions/run_account_operation.ts';
import { sendAnswerPage } from '#entry/http/answers/answer_page.ts';
import { browserOf } from '#entry/http/console/browser.ts';
import type { Serving } from '#entry/http/console/serving.ts';
import { noteRefusal, toLoggedAppError } from '#entry/http/problem.ts';
import { completeProviderSignIn } from '#modules/sign_in/operations/provider_sign_in.ts';

/** Parameters of a provider's answer that are read; all others are left alone. */
const PARAMETERS = ['code', 'state', 'iss', 'error'] as const;

interface Route {
  readonly Params: { readonly org: string };
  readonly Querystring: Readonly<Record<string, unknown>>;
}

/**
 * Serves the address to which providers send browsers back: it signs the person in and leads on, or says in a sentence
 * of ours why not. Answers in a form that is posted are not taken: another site's form carries no cookie here.
 */
export function serveProviderAnswers(scope: FastifyInstance, serving: Serving): void {
  scope.get<Route>('/sign-in/:org/callback', { exposeHeadRoute: false }, async (request, reply) => {
    void reply.header('referrer-policy', 'no-referrer');
    const { baseUrl } = serving.context.config;
    try {
      const { signedIn, next } = await complete(serving, request, reply);
      if (!('secondFactor' in signedIn)) return await reply.redirect(baseUrl + next, 303);
      // Behind the #, what names the pending sign-in reaches neither a log nor another host.
      const pending = Buffer.from(JSON.stringify(signedIn.secondFactor)).toString('base64url');
      return await reply.redirect(`${baseUrl}/login?next=${encodeURIComponent(next)}#second-factor=${pending}`, 303);
    } catch (error) {
      const refusal = toLoggedAppError(error, request.id, serving.context.log);
      noteRefusal(request, refusal);
      return sendAnswerPage(reply, {
        status: refusal.status,
        heading: 'You are not signed in.',
        paragraphs: [sentenceOf(refusal.message)],
        link: { text: 'Go to the sign-in page', url: `${baseUrl}/login` },
      });
    }
  });
}

async function complete(serving: Serving, request: FastifyRequest<Route>, reply: FastifyReply) {
  const answer = PARAMETERS.flatMap((name) => {
    // Of a parameter that is sent twice, none counts.
    const value = request.query[name];
    return typeof value === 'string' ? [[name, value]] : [];
  });
  const input = { orgId: request.params.org, ...Object.fromEntries(answer) };
  const browser = browserOf(serving, request, reply);
  const requester = { session: null, browser, origin: { requestId: request.id, address: request.ip } };
  const result = await runAccountOperation(serving.context.actions, completeProviderSignIn, requester, input);
  browser.giveCookies();
  return result as Completed;
}

interface Completed {
  readonly signedIn: object & { readonly secondFactor?: unknown };
  readonly next: string;
}

function sentenceOf(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
}
