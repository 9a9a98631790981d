import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { Busboy } from '@fastify/busboy';
import type { FastifyInstance } from 'fastify';

import {
  listOfTexts,
  objectOf,
  optionalText,
  parseBodies,
  requiredText,
} from '#entry/http/ingest/sentry_api/bodies.ts';
import { mountReleases, organizationAnswer, projectAnswer } from '#entry/http/ingest/sentry_api/releases.ts';
import {
  type AddEndpoint,
  type Call,
  openEndpoints,
  SENTRY_API_PATH,
  type SentryApi,
} from '#entry/http/ingest/sentry_api/scope.ts';
import { beginRefusal, toProblem } from '#entry/http/problem.ts';
import { nextTurn } from '#kernel/cooperative_task.ts';
import { AppError, invalidInput } from '#kernel/errors.ts';
import { findServices } from '#modules/releases/find_services.ts';
import { acceptChunks, askForAssembly, UPLOAD_LIMITS } from '#modules/releases/source_maps/uploads.ts';

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

/** Bytes parsed per turn of the event loop: even the most expensive input of this size takes only some milliseconds. */
const SLICE_BYTES = 256 * 1024;

interface FormFile {
  readonly field: string;
  readonly fileName: string;
  readonly content: Buffer;
}

/** Returns the files of a form with at most `partsMax` parts. Other requests are served while it is read. */
async function filesOf(body: unknown, contentType: string | undefined, partsMax: number): Promise<FormFile[]> {
  if (!Buffer.isBuffer(body) || contentType === undefined) {
    throw new AppError('unsupported_media_type', 'send the parts as content-type: multipart/form-data');
  }
  const files: FormFile[] = [];
  try {
    const form = new Busboy({ headers: { 'content-type': contentType }, limits: { parts: partsMax } });
    form.on('file', (field, file, fileName) => {
      const chunks: Buffer[] = [];
      file.on('data', (chunk: Buffer) => void chunks.push(chunk));
      // The form's own error follows.
      file.on('error', () => {});
      file.on('end', () => void files.push({ field, fileName, content: Buffer.concat(chunks) }));
    });
    form.on('partsLimit', () =>
      form.destroy(new AppError('payload_too_large', `send at most ${partsMax} parts in a request`)),
    );
    await pipeline(Readable.from(slicesOf(body)), form);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw invalidInput([{ path: '', message: 'the form cannot be read' }]);
  }
  return files;
}

async function* slicesOf(bytes: Buffer): AsyncIterable<Buffer> {
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    if (at > 0) await nextTurn();
    yield bytes.subarray(at, at + SLICE_BYTES);
  }
}

const NAME_LENGTH_MAX = 200;
const SHA1 = /^[0-9a-f]{40}$/;

/** Mounts the upload of source maps, in parts and then as a whole. */
function mountUploads(add: AddEndpoint, { runtime }: SentryApi): void {
  const { limits } = runtime.installation;
  const uploadBytesMax = limits.uploadMegabytes * 1_048_576;
  const chunksMax = Math.ceil(uploadBytesMax / UPLOAD_LIMITS.chunkBytes);
  const path = '/organizations/:org/chunk-upload';
  add({
    method: 'GET',
    path,
    permission: 'exceptions:edit',
    handle: async ({ params, address }) => ({
      // Plugins of bundlers take only a whole address.
      url: `${address}${SENTRY_API_PATH}/organizations/${encodeURIComponent(params['org'] ?? '')}/chunk-upload/`,
      chunkSize: UPLOAD_LIMITS.chunkBytes,
      chunksPerRequest: UPLOAD_LIMITS.chunksPerRequest,
      maxFileSize: uploadBytesMax,
      maxRequestSize: UPLOAD_LIMITS.chunkBytes * UPLOAD_LIMITS.chunksPerRequest,
      concurrency: 2,
      hashAlgorithm: 'sha1',
      compression: ['gzip'],
      // Files of native code are not supported.
      accept: ['release_files', 'artifact_bundles', 'artifact_bundles_v2'],
    }),
  });
  add({
    method: 'POST',
    path,
    permission: 'exceptions:edit',
    change: 'upload_source_maps',
    bodyBytesMax: UPLOAD_LIMITS.requestBytesMax,
    handle: async ({ requester, body, contentType }) => {
      const files = await filesOf(body, contentType, UPLOAD_LIMITS.chunksPerRequest);
      const chunks = files.map(({ field, fileName, content }) => ({
        sha1: sha1Of(fileName, 'filename'),
        isGzip: field === 'file_gzip',
        content,
      }));
      await acceptChunks(runtime, requester.orgId, chunks, limits);
      return {};
    },
  });
  const assemble = async ({ requester, stores, params, body }: Call): Promise<unknown> => {
    const sent = objectOf(body);
    const checksum = sha1Of(requiredText(sent, 'checksum', 40), 'checksum');
    const chunks = listOfTexts(sent['chunks'], 'chunks', chunksMax).map((chunk) => sha1Of(chunk, 'chunks'));
    const projects = listOfTexts(sent['projects'], 'projects', 50);
    const release = params['version'] ?? optionalText(sent, 'version', NAME_LENGTH_MAX);
    const services = await findServices(stores, requester.orgId, projects);
    const serviceIds = services.map(({ id }) => id);
    const dist = optionalText(sent, 'dist', NAME_LENGTH_MAX);
    return await askForAssembly(runtime, requester, { checksum, chunks, serviceIds, release, dist }, limits);
  };
  const needs = { permission: 'exceptions:edit', change: 'upload_source_maps' } as const;
  add({ method: 'POST', path: '/organizations/:org/artifactbundle/assemble', ...needs, handle: assemble });
}

function sha1Of(text: string, path: string): string {
  const sha1 = text.toLowerCase();
  if (!SHA1.test(sha1)) throw invalidInput([{ path, message: 'is not a SHA-1 checksum of 40 hex digits' }]);
  return sha1;
}
