import type { FastifyInstance } from 'fastify';

import { ACCOUNT_OPERATIONS, CONSOLE_OPERATIONS } from '#actions/registry.ts';
import { deviceCookieOf } from '#auth/devices.ts';
import { attemptCookieOf } from '#auth/openid/attempt_cookie.ts';
import { sessionCookieOf } from '#auth/sessions.ts';
import type { HttpContext } from '#entry/http/http_context.ts';
import { compressAnswers } from '#entry/http/compress_answers.ts';
import type { CallBudget } from '#entry/http/connections/call_budget.ts';
import { serveAccountOperation } from '#entry/http/console/account_operations.ts';
import { type FindDataOfPage, initialDataOf } from '#entry/http/console/initial_data.ts';
import { serveEvents } from '#entry/http/console/events.ts';
import { serveDownload, serveOrganizationOperations } from '#entry/http/console/organization_operations.ts';
import { serveProviderAnswers } from '#entry/http/console/provider_answers.ts';
import { serveReads } from '#entry/http/console/reads.ts';
import { parseJsonBodies } from '#entry/http/json_body.ts';
import { AppError } from '#kernel/errors.ts';
import { API_PATHS } from '#kernel/api_paths.ts';

/** Loopback names of this machine: browsers treat them as different origins, people do not. */
export const LOOPBACK_NAMES: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];

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
