import type { FastifyInstance } from 'fastify';

import { organizationAnswer, projectAnswer } from '#entry/http/ingest/sentry_api/answers.ts';
import { beginRefusal, toProblem } from '#entry/http/problem.ts';
import { parseBodies } from '#entry/http/ingest/sentry_api/bodies.ts';
import { mountReleases } from '#entry/http/ingest/sentry_api/releases.ts';
import { openEndpoints, SENTRY_API_PATH, type SentryApi } from '#entry/http/ingest/sentry_api/scope.ts';
import { mountUploads } from '#entry/http/ingest/sentry_api/uploads.ts';

/**
 * Mounts the endpoints that `sentry-cli` and the plugins of bundlers call: source maps, releases and deploys, by an API
 * key. Errors are problems as everywhere; these clients show their `detail`.
 */
export async function mountSentryApi(app: FastifyInstance, api: SentryApi): Promise<void> {
  await app.register(async (scope) => {
    parseBodies(scope);
    // These clients read an error only if it is called JSON and nothing more exact.
    scope.setErrorHandler((error, request, reply) => {
      const refusal = beginRefusal(error, request, reply, api.log);
      return reply.type('application/json; charset=utf-8').send(JSON.stringify(toProblem(refusal, request.id)));
    });
    const add = openEndpoints(scope, api);
    mountUploads(add, api);
    mountReleases(add, api);
    mountUnsupported(scope);
    add({
      method: 'GET',
      path: '/organizations/:org/projects',
      permission: 'services:view',
      handle: async ({ stores, requester }) => (await stores.services.list(requester.orgId, 10_000)).map(projectAnswer),
    });
    add({
      method: 'GET',
      path: '/organizations/:org/repos',
      permission: 'services:view',
      // Commits are read from the working copy.
      handle: async () => [],
    });
    add({
      method: 'GET',
      path: '/organizations',
      permission: 'services:view',
      handle: async ({ stores, requester: { orgId } }) => {
        const organization = await stores.people.findOrganization(orgId);
        if (organization === null) return [];
        return [organizationAnswer(organization)];
      },
    });
    add({
      method: 'GET',
      path: '',
      permission: 'services:view',
      handle: async () => ({ version: '0', user: null, auth: { scopes: ['project:releases', 'org:read'] } }),
    });
  });
}

const UNSUPPORTED = [
  ['projects/:org/:project/files/dsyms', 'dSYM, PDB, ELF and ProGuard files'],
  ['projects/:org/:project/files/difs/assemble', 'dSYM, PDB, ELF and ProGuard files'],
  ['projects/:org/:project/files/difs/unknown', 'dSYM, PDB, ELF and ProGuard files'],
  ['projects/:org/:project/files/proguard-artifact-releases', 'ProGuard files'],
  ['projects/:org/:project/reprocessing', 'dSYM, PDB, ELF and ProGuard files'],
  ['organizations/:org/releases/:version/assemble', 'release files (upload source maps with `sourcemaps upload`)'],
  ['projects/:org/:project/releases/:version/files', 'release files (upload source maps with `sourcemaps upload`)'],
  ['organizations/:org/releases/:version/files', 'release files (upload source maps with `sourcemaps upload`)'],
  ['projects/:org/:project/files/preprodartifacts/assemble', 'builds of mobile apps'],
] as const;

/** Answers uploads of these clients that the server does not support, without authentication. */
function mountUnsupported(scope: FastifyInstance): void {
  for (const [path, what] of UNSUPPORTED) {
    for (const url of [`${SENTRY_API_PATH}/${path}`, `${SENTRY_API_PATH}/${path}/`]) {
      scope.route({
        method: ['GET', 'POST', 'PUT', 'DELETE'],
        url,
        onRequest: async (request, reply) => {
          const detail = `not_supported: ${what} are not supported by this server; nothing was stored`;
          const problem = { type: 'about:blank', title: 'Not Implemented', status: 501, detail, code: 'not_supported' };
          await reply
            .code(501)
            .type('application/json; charset=utf-8')
            .send(JSON.stringify({ ...problem, requestId: request.id }));
        },
        handler: () => {},
      });
    }
  }
}
