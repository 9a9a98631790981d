import { ACTION_GROUPS } from '#actions/registry.ts';
import { actionPaths } from '#entry/http/openapi/action_paths.ts';
import { CONSOLE_TAGS, consolePaths } from '#entry/http/openapi/console_paths.ts';
import { INTRODUCTION } from '#entry/http/openapi/introduction.ts';
import { ingestionSchemas, otherPaths } from '#entry/http/openapi/other_paths.ts';
import { componentHeaders, componentResponses, PROBLEM_SCHEMA } from '#entry/http/openapi/problems.ts';
import { componentSchemas, type JsonSchema } from '#entry/http/openapi/schemas.ts';

/** The version of the contract. */
export const CONTRACT_VERSION = '1.0.0';

/** Returns the OpenAPI 3.1 document: every action from the registry, and the other endpoints. */
export function openApiDocument(baseUrl: string): JsonSchema {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Tocsin',
      summary: 'Monitoring, exception tracking and on-call.',
      description: INTRODUCTION.replaceAll('{base_url}', baseUrl),
      version: CONTRACT_VERSION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl }],
    tags: [
      ...ACTION_GROUPS.map(({ heading, about }) => ({ name: heading, description: about })),
      ...CONSOLE_TAGS,
      ...OTHER_TAGS,
    ],
    paths: { ...actionPaths(), ...consolePaths(), ...otherPaths() },
    components: {
      securitySchemes: SECURITY_SCHEMES,
      schemas: { ...componentSchemas(), ...ingestionSchemas(), Problem: PROBLEM_SCHEMA },
      responses: componentResponses(),
      headers: componentHeaders(),
    },
  };
}

const OTHER_TAGS = [
  {
    name: 'Ingestion',
    description: 'How data is sent. These are not actions: they take a key that can only send data.',
  },
  { name: 'Operation', description: 'For those who run the product.' },
];

const SECURITY_SCHEMES: JsonSchema = {
  apiKey: { type: 'http', scheme: 'bearer', bearerFormat: 'tocsin_key_…', description: 'An API key.' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'tocsin_session',
    description: 'The session of somebody signed in; `__Host-tocsin_session` where the base URL is https.',
  },
  metricsToken: { type: 'http', scheme: 'bearer', description: 'The value of the setting METRICS_TOKEN.' },
  ingestionKey: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'tocsin_ing_…',
    description: 'The ingestion key of a service, from get_service.',
  },
  alertKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'The alert key of a service, from the console or the command line.',
  },
  ingestionKeyHeader: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Api-Key',
    description: 'The ingestion key of a service.',
  },
  ingestionBasic: { type: 'http', scheme: 'basic', description: 'The ingestion key of a service, as the password.' },
  sentryAuth: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Sentry-Auth',
    description: "`Sentry sentry_key=…`, the key being that of the service's DSN.",
  },
  sentryKey: { type: 'apiKey', in: 'query', name: 'sentry_key', description: "The key of the service's DSN." },
};
