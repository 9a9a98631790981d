import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TObject, TSchema } from 'typebox';

import type { DeviceCookie } from '#auth/devices.ts';
import type { MemberCaller, SessionCookie, Visitor } from '#auth/sessions.ts';
import type { HttpContext } from '#entry/http/http_context.ts';
import type { Refused } from '#entry/http/openapi/problems.ts';
import type { RequestOrigin } from '#kernel/caller.ts';
import type { Temporal } from '#kernel/time.ts';
import type { SessionOfPerson } from '#storage/postgres/session_store.ts';

/**
 * Who may use a route: `anyone`, whoever is `signed_in`, a `member` of the organization in the address (404 to others),
 * or a `manager`, who is its owner or an admin (403 to others).
 */
export type Access = 'anyone' | 'signed_in' | 'member' | 'manager';

/** A request that may be served: who asks, and what was asked, checked. */
export interface ConsoleCall<Who extends Access = Access, Body = unknown, Query = unknown> {
  readonly house: HttpContext;
  readonly now: Temporal.Instant;
  readonly session: Who extends 'anyone' ? null : SessionOfPerson;
  /** The member, with the role of this very moment. */
  readonly caller: Who extends 'member' | 'manager' ? MemberCaller : null;
  /** The parameters of the path. */
  readonly params: Readonly<Record<string, string>>;
  readonly body: Body;
  readonly query: Query;
  readonly origin: RequestOrigin;
  readonly visitor: Visitor;
  readonly cookie: SessionCookie;
  readonly devices: DeviceCookie;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** One route of the console: it is served, published in OpenAPI and tested from this one declaration. */
export interface ConsoleRoute {
  /** Its name in OpenAPI and in the audit log. */
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below `/api/console`, with parameters as `:name`. */
  readonly path: string;
  readonly tag: 'Signing in' | 'Organizations' | 'Own account' | 'Connected apps';
  /** A sentence that says what it does. */
  readonly summary: string;
  readonly access: Access;
  /** Closed. Absent: nothing is asked for in the body. */
  readonly body?: TObject;
  /** `handle` checks the body itself. */
  readonly takesAnyBody?: true;
  /** Closed; every property is a text or a number that is written in digits. */
  readonly query?: TObject;
  /** 200 unless it says so. */
  readonly status?: 202;
  /** What is answered below `result`; `null` where `handle` sends the answer itself. */
  readonly result: TSchema | null;
  /** The media types of an answer that `handle` sends itself. */
  readonly sends?: readonly string[];
  /** Refusals beyond those that every route has. */
  readonly refusals?: readonly Refused[];
  /** Whoever has a second factor must have shown it within ten minutes. */
  readonly stepUp?: true;
  /** Refuses before the body is read. */
  check?(call: ConsoleCall): Promise<void>;
  handle(call: ConsoleCall): Promise<unknown>;
}

interface Declared<Who extends Access, Body extends TObject, Query extends TObject, Result extends TSchema | null> {
  readonly access: Who;
  readonly body?: Body;
  readonly query?: Query;
  readonly result: Result;
  handle(
    call: ConsoleCall<Who, Static<Body>, Static<Query>>,
  ): Promise<Result extends TSchema ? Static<Result> : FastifyReply>;
}

/** Declares a route. What `handle` is given fits the declaration, since it is only called once that was checked. */
export function consoleRoute<
  Who extends Access,
  Body extends TObject,
  Query extends TObject,
  Result extends TSchema | null,
>(
  route: Omit<ConsoleRoute, 'access' | 'body' | 'query' | 'result' | 'handle'> & Declared<Who, Body, Query, Result>,
): ConsoleRoute {
  return route;
}
