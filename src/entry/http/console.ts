import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { ACCOUNT_OPERATIONS, CONSOLE_OPERATIONS } from '#actions/registry.ts';
import { runAccountOperation } from '#actions/run_account_operation.ts';
import { deviceCookieOf } from '#auth/devices.ts';
import { attemptCookieOf } from '#auth/openid/attempt_cookie.ts';
import { sessionCookieOf } from '#auth/sessions.ts';
import { sendAnswerPage } from '#entry/http/answers/answer_page.ts';
import { compressAnswers } from '#entry/http/compress_answers.ts';
import type { CallBudget } from '#entry/http/connections/call_budget.ts';
import { serveAccountOperation } from '#entry/http/console/account_operations.ts';
import { browserOf, type Serving } from '#entry/http/console/browser.ts';
import { serveEvents } from '#entry/http/console/events.ts';
import { type FindDataOfPage, initialDataOf } from '#entry/http/console/initial_data.ts';
import { serveDownload, serveOrganizationOperations, serveReads } from '#entry/http/console/organization_operations.ts';
import type { HttpContext } from '#entry/http/http_context.ts';
import { noteRefusal, toLoggedAppError } from '#entry/http/problem.ts';
import { parseJsonBodies } from '#entry/http/request_body.ts';
import { API_PATHS } from '#kernel/api_paths.ts';
import { AppError } from '#kernel/errors.ts';
import { LOOPBACK_NAMES } from '#kernel/url_fault.ts';
import { completeProviderSignIn } from '#modules/sign_in/operations/provider_sign_in.ts';

/**
 * Whether a browser says that one of our pages sent the request: a page of the public address or, if that is this
 * machine itself, of the same address under another loopback name.
 */
function isOwnOrigin(origin: string | undefined, host: string | undefined, baseUrl: string): boolean {
  const base = new URL(baseUrl);
  if (origin === base.origin) return true;
  if (origin === undefined || !LOOPBACK_NAMES.includes(base.hostname) || !URL.canParse(origin)) return false;
  const sender = new URL(origin);
  return LOOPBACK_NAMES.includes(sender.hostname) && sender.origin === origin && origin === `${base.protocol}//${host}`;
}

export const CONSOLE_PATH = API_PATHS.console;

/**
 * Mounts what the console needs besides the actions. Answers must not be cached on the way. Returns the function that
 * finds the data of a page.
 */
export async function mountConsole(
  app: FastifyInstance,
  context: HttpContext,
  budget: CallBudget,
  /** Longest time a page waits for its data; for tests. */
  pageWaitMs?: number,
): Promise<FindDataOfPage> {
  const consoleOrigin = new URL(context.config.baseUrl).origin;
  const cookie = sessionCookieOf(context.config.baseUrl);
  const devices = deviceCookieOf(context.config.baseUrl, context.config.appSecret);
  const attempts = attemptCookieOf(context.config.baseUrl);
  const serving = { context, cookie, devices, attempts, budget };
  // Otherwise the streams of consoles would keep the server from closing.
  app.addHook('preClose', async () => context.changes.close());
  await app.register(
    async (scope) => {
      parseJsonBodies(scope);
      await compressAnswers(scope);
      scope.addHook('onRequest', async (request, reply) => {
        void reply.header('cache-control', 'no-store');
        // A browser sends the origin of a change, which no page can forge.
        const { origin, host } = request.headers;
        if (request.method !== 'GET' && !isOwnOrigin(origin, host, context.config.baseUrl)) {
          throw new AppError(
            'forbidden',
            `a change must come from a page of ${consoleOrigin}, as the header Origin tells: open the console there, or set BASE_URL to the address that you use`,
          );
        }
      });
      serveOrganizationOperations(scope, serving);
      serveReads(scope, serving);
      for (const operation of CONSOLE_OPERATIONS) {
        if (operation.sends !== undefined) serveDownload(scope, serving, operation);
      }
      for (const operation of ACCOUNT_OPERATIONS) serveAccountOperation(scope, serving, operation);
      serveEvents(scope, serving);
      serveProviderAnswers(scope, serving);
    },
    { prefix: CONSOLE_PATH },
  );
  return initialDataOf(serving, pageWaitMs);
}

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
function serveProviderAnswers(scope: FastifyInstance, serving: Serving): void {
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
    // A parameter that is sent twice does not count.
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
