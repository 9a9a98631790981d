import { DeployInput } from '#entry/http/ingest/ingest_deploys.ts';
import { refusedAs } from '#entry/http/openapi/problems.ts';
import type { JsonSchema } from '#entry/http/openapi/schemas.ts';
import { OWN_EVENT_SCHEMA } from '#ingest/protocols/alerts/own_events.ts';
import { ALERTS_PATH } from '#kernel/api_paths.ts';

const TEXT: JsonSchema = { type: 'string' };
const TEXT_OR_NULL: JsonSchema = { anyOf: [TEXT, { type: 'null' }] };

const OUTCOME: JsonSchema = {
  type: 'object',
  required: ['dedupKey', 'alertId', 'incidentId', 'effect'],
  properties: {
    dedupKey: TEXT,
    alertId: TEXT_OR_NULL,
    incidentId: TEXT_OR_NULL,
    effect: {
      enum: ['nothing', 'count', 'open', 'open_acknowledged', 'acknowledge', 'unacknowledge', 'resolve', 'replace'],
    },
    cut: { type: 'array', items: TEXT, description: 'what was longer than is kept' },
  },
};

/** Address for alerts of one's own programs; the other addresses speak the protocols of their tools. */
export const ALERT_PATHS: Readonly<Record<string, JsonSchema>> = {
  [`${ALERTS_PATH}/events`]: {
    post: {
      operationId: 'ingest_alert_events',
      tags: ['Ingestion'],
      summary: 'Send alerts',
      description:
        'By the alert key of the service, as Bearer token. One event, or a list of up to 1,000, which is answered with `events`. 202 means that it is stored. Addresses in the protocols of PagerDuty, Opsgenie, Alertmanager, Grafana, Prometheus and VictorOps are in the guide "Alerts from other tools".',
      security: [{ alertKey: [] }],
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: {
              anyOf: [OWN_EVENT_SCHEMA, { type: 'array', items: OWN_EVENT_SCHEMA, minItems: 1, maxItems: 1_000 }],
            },
            example: { dedupKey: 'disk-db-1', title: 'Disk of db-1 is full', severity: 'critical' },
          },
        },
      },
      responses: {
        '202': {
          description: 'Stored, and done.',
          content: {
            'application/json': {
              schema: {
                anyOf: [
                  OUTCOME,
                  { type: 'object', required: ['events'], properties: { events: { type: 'array', items: OUTCOME } } },
                ],
              },
              example: {
                dedupKey: 'disk-db-1',
                alertId: 'alert_01kdwm4a1b2c3d4e5f6g7h8j9p',
                incidentId: 'incident_01kdwm4a1b2c3d4e5f6g7h8j9k',
                effect: 'open',
              },
            },
          },
        },
        ...refusedAs([
          'invalid_input',
          'unauthenticated',
          'forbidden',
          'payload_too_large',
          'rate_limited',
          'internal',
          'unavailable',
        ]),
      },
    },
  },
};

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
