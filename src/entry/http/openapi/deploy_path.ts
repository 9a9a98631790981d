import { DeployInput } from '#entry/http/ingest/ingest_deploys.ts';
import { refusedAs } from '#entry/http/openapi/problems.ts';
import type { JsonSchema } from '#entry/http/openapi/schemas.ts';

const TEXT: JsonSchema = { type: 'string' };

/** Operation by which a pipeline reports a deploy. */
export const DEPLOY_OPERATION: JsonSchema = {
  operationId: 'ingest_deploy',
  tags: ['Ingestion'],
  summary: 'Record a deploy',
  description:
    'By the ingestion key of the service that was deployed. Charts and incidents show it, and its release becomes known. Without `environment` it is of production, without `finishedAt` of now. The same deploy sent again with the same `finishedAt` is recorded once. A service takes 1,000 a day.',
  security: [{ ingestionKey: [] }, { ingestionKeyHeader: [] }, { ingestionBasic: [] }],
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: DeployInput,
        example: { release: '2027.5.1', environment: 'production', finishedAt: '2027-05-01T12:00:00Z' },
      },
    },
  },
  responses: {
    '201': {
      description: 'Recorded.',
      content: {
        'application/json': {
          schema: {
            type: 'object',
            required: ['deployId', 'serviceId', 'release', 'environment', 'finishedAt'],
            properties: { deployId: TEXT, serviceId: TEXT, release: TEXT, environment: TEXT, finishedAt: TEXT },
          },
          example: {
            deployId: 'deploy_01kdwm3y8pfqa9b6t2x0c4v7zt',
            serviceId: 'service_01k9z8e4rnf7ktv2x5m6w0abqe',
            release: '2027.5.1',
            environment: 'production',
            finishedAt: '2027-05-01T12:00:00.000Z',
          },
        },
      },
    },
    ...refusedAs([
      'invalid_input',
      'unauthenticated',
      'payload_too_large',
      'unsupported_media_type',
      'rate_limited',
      'internal',
      'unavailable',
    ]),
  },
};
