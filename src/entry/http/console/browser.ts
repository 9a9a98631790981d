import type { FastifyReply, FastifyRequest } from 'fastify';

import type { Browser } from '#actions/action_context.ts';
import type { DeviceCookie } from '#auth/devices.ts';
import type { AttemptCookie } from '#auth/openid/attempt_cookie.ts';
import { authenticateSession, type SessionCookie } from '#auth/sessions.ts';
import type { CallBudget } from '#entry/http/connections/call_budget.ts';
import type { HttpContext } from '#entry/http/http_context.ts';
import { AppError } from '#kernel/errors.ts';
import type { SessionOfPerson } from '#modules/accounts/store/session_store.ts';
import { storesOf } from '#modules/stores.ts';

export const BODY_BYTES_MAX = 1024 * 1024;

/** Browser behind a request. `giveCookies` sends it the cookies that an operation set, once that is committed. */
export interface BrowserOfRequest extends Browser {
  giveCookies(): void;
}

export function browserOf(serving: Serving, request: FastifyRequest, reply: FastifyReply): BrowserOfRequest {
  const { context, cookie, devices, attempts } = serving;
  const cookies: string[] = [];
  return {
    address: request.ip,
    userAgent: request.headers['user-agent'] ?? null,
    knownDeviceOf: (email) => devices.read(request.headers.cookie, email),
    async findSignedIn() {
      try {
        const { userId, providerOrgId } = await authenticateRequest(serving, request);
        // What a provider of one organization says proves nothing to the others.
        return providerOrgId === null ? userId : null;
      } catch (error) {
        if (error instanceof AppError && error.code === 'unauthenticated') return null;
        throw error;
      }
    },
    readSignInSecret: () => attempts.read(request.headers.cookie),
    giveSignInSecret: (secret) => {
      cookies.push(attempts.give(secret));
    },
    giveSession: (token, email) => {
      cookies.push(cookie.give(token), devices.give(request.headers.cookie, email));
    },
    takeSessionAway: () => {
      cookies.push(cookie.takeAway());
    },
    async getConnectRequest(uid) {
      const server = await context.authorizationServer();
      return await server.getConnectRequest(uid, request.raw, reply.raw);
    },
    giveCookies: () => {
      if (cookies.length > 0) void reply.header('set-cookie', cookies);
    },
  };
}

/** Returns the session of the browser behind this request. Throws `unauthenticated`. */
export async function authenticateRequest(
  { context, cookie }: Pick<Serving, 'context' | 'cookie'>,
  request: FastifyRequest,
): Promise<SessionOfPerson> {
  return await authenticateSession(storesOf(context.db.session()), cookie, request.headers.cookie, context.clock.now());
}

export interface Serving {
  readonly context: HttpContext;
  readonly cookie: SessionCookie;
  readonly devices: DeviceCookie;
  readonly attempts: AttemptCookie;
  readonly budget: CallBudget;
}
