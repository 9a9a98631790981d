import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';

import type { Metadata, ServerInterceptingCallInterface, StatusObject } from '@grpc/grpc-js';

import { POINTS_BODY_BYTES_MAX } from '#modules/metrics/decide/limits.ts';
import type { OpenPort, PortOptions, PortProtocol, PortSender } from '#ingest/protocol.ts';
import { FramePacer, type Paced } from '#ingest/protocols/body/frame_pacer.ts';
import {
  decodeOtlpMetrics,
  encodeOtlpAnswer,
  OTHER_SIGNALS,
  OTLP_RETRY_SECONDS_MAX,
  rpcCodeOf,
  signalNotTaken,
} from '#ingest/protocols/otlp_metrics.ts';
import { encodeBytes, encodeVarint } from '#ingest/protocols/body/protobuf_wire.ts';
import { AppError } from '#kernel/errors.ts';
import { KeyedLimit } from '#kernel/keyed_limit.ts';

const PROTOBUF_TYPE = 'application/x-protobuf';
const EXPORT = '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export';
/** Bodies that are in memory at the same time; others wait unread. */
const BODIES = { concurrency: 24, concurrencyPerKey: 6 };
/** Calls of one service that wait for their turn. */
const WAITING_MAX = 200;
/** A call that takes longer to arrive and be stored is given up. */
const CALL_MS = 60_000;
const DRAIN_MS = 5_000;

/** OTLP over gRPC, without TLS: a proxy adds it, as for HTTP. */
export const OTLP_GRPC: PortProtocol = { name: 'otlp_grpc', portOf: ({ otlpGrpcPort }) => otlpGrpcPort, listen };

/** A call from when its key was found good to its end. */
interface Admitted {
  readonly sender: PortSender;
  readonly release: () => void;
}

class GrpcConnection {
  readonly socket: Socket;
  readonly #paced: Paced;
  #waiting = 0;
  #running = 0;

  constructor(socket: Socket, paced: Paced) {
    this.socket = socket;
    this.#paced = paced;
  }

  /** A call waits for its turn. */
  waits(): void {
    this.#waiting += 1;
    this.#pace();
  }

  /** A call that has waited has its turn. */
  begins(): void {
    this.#waiting -= 1;
    this.#running += 1;
    this.#pace();
  }

  ends(): void {
    this.#running -= 1;
    this.#pace();
  }

  /** Pauses reading while all calls wait: what they send would be held for as long. */
  #pace(): void {
    this.#paced.hold(this.#waiting > 0 && this.#running === 0);
  }
}

async function listen({ host, port, open, connections, pieceBytesMin, log }: PortOptions): Promise<OpenPort> {
  // Loaded only where it is configured.
  const grpc = await import('@grpc/grpc-js');
  const bodies = new KeyedLimit(BODIES);
  const admitted = new WeakMap<Metadata, Admitted>();
  const pacer = new FramePacer({ pieceBytesMin });
  /** The connection of a call: the library says nothing of one that is paced. */
  const opened = new AsyncLocalStorage<GrpcConnection>();

  const statusOf = (error: unknown): StatusObject => {
    const appError = error instanceof AppError ? error : new AppError('internal', 'internal error');
    if (appError !== error) log.error({ err: error }, 'a gRPC call failed');
    const { code, message, retryAfterSeconds } = appError;
    const metadata = new grpc.Metadata();
    if (retryAfterSeconds !== undefined) {
      metadata.set('grpc-status-details-bin', retryDetails(rpcCodeOf(code), message, retryAfterSeconds));
    }
    // Exporters take only this code for a signal that no later call will be able to send.
    const status = code === 'not_found' ? grpc.status.UNIMPLEMENTED : rpcCodeOf(code);
    // eslint-disable-next-line typescript/no-unsafe-enum-assignment -- both are the numbers of google.rpc.Code
    return { code: status, details: message, metadata };
  };

  /** Checks the key and waits for a turn. Nothing of the body is read before. */
  const admit = async (metadata: Metadata): Promise<Admitted> => {
    const connection = opened.getStore();
    const sender = await open(keyOf(metadata), connection?.socket.remoteAddress ?? '');
    if (connection !== undefined) connections.setKnown(connection.socket);
    if (bodies.countOf(sender.serviceId) >= WAITING_MAX) {
      throw new AppError('unavailable', 'more is arriving than can be stored; send again shortly', {
        retryAfterSeconds: 2,
      });
    }
    const turn = Promise.withResolvers<void>();
    const { promise: done, resolve: release } = Promise.withResolvers<void>();
    connection?.waits();
    void bodies.run(sender.serviceId, async () => {
      turn.resolve();
      await done;
    });
    await turn.promise;
    connection?.begins();
    let isOver = false;
    const end = (): void => {
      if (isOver) return;
      isOver = true;
      release();
      connection?.ends();
    };
    return { sender, release: end };
  };

  /** The key is checked before the body is read, and the turn given back at the end, whatever that is. */
  const interceptor = (_method: unknown, call: ServerInterceptingCallInterface) => {
    let end = (): void => {};
    let hasEnded = false;
    const finish = (): void => {
      hasEnded = true;
      end();
    };
    return new grpc.ServerInterceptingCall(call, {
      start(next) {
        next({
          onReceiveMetadata(metadata, pass) {
            admit(metadata).then(
              (permit) => {
                const timer = setTimeout(() => call.sendStatus(statusOf(tooSlow())), CALL_MS);
                end = () => {
                  clearTimeout(timer);
                  permit.release();
                };
                if (hasEnded) {
                  end();
                  return;
                }
                admitted.set(metadata, permit);
                pass(metadata);
              },
              (error: unknown) => call.sendStatus(statusOf(error)),
            );
          },
          onCancel: finish,
        });
      },
      sendStatus(status, next) {
        finish();
        next(status);
      },
    });
  };

  const server = new grpc.Server({
    interceptors: [interceptor],
    'grpc.max_receive_message_length': POINTS_BODY_BYTES_MAX,
    'grpc.max_concurrent_streams': 32,
    'grpc.max_connection_idle_ms': 300_000,
    'grpc.keepalive_time_ms': 60_000,
    'grpc.keepalive_timeout_ms': 20_000,
  });
  const asIs = (bytes: Buffer): Buffer => bytes;
  const register = (method: string, take: (sender: PortSender, request: Buffer) => Promise<Buffer>): void =>
    void server.register(
      method,
      (call: { readonly metadata: Metadata; readonly request: Buffer }, respond: Answer) => {
        const sender = admitted.get(call.metadata)?.sender;
        if (sender === undefined) {
          respond(statusOf(new Error('the call was not authenticated')));
          return;
        }
        take(sender, call.request).then(
          (body) => respond(null, body),
          (error: unknown) => respond(statusOf(error)),
        );
      },
      asIs,
      asIs,
      'unary',
    );
  register(EXPORT, async (sender, request) => {
    const decoded = await sender.take((now, limits) => decodeOtlpMetrics(request, PROTOBUF_TYPE, now, limits));
    return encodeOtlpAnswer(decoded, PROTOBUF_TYPE).body;
  });
  for (const { signal, rpc } of OTHER_SIGNALS) {
    register(`/${rpc}/Export`, async (sender) => {
      const error = signalNotTaken(signal);
      sender.refuseCall(error);
      throw error;
    });
  }
  const injector = server.createConnectionInjector(grpc.ServerCredentials.createInsecure());

  const listener = createServer((socket: Socket) => {
    socket.on('error', () => {});
    if (!connections.admit(socket)) return;
    const paced = pacer.pace(socket, () => connections.refusePieces(socket));
    opened.run(new GrpcConnection(socket, paced), () => injector.injectConnection(paced));
  });
  listener.listen(port, host);
  await once(listener, 'listening');
  const bound = listener.address();
  return {
    port: typeof bound === 'object' && bound !== null ? bound.port : port,
    async close() {
      const closed = once(listener, 'close');
      listener.close();
      injector.drain(DRAIN_MS);
      await closed;
      injector.destroy();
      server.forceShutdown();
    },
  };
}

type Answer = (status: StatusObject | null, body?: Buffer) => void;

/** Returns the key, sent as over HTTP: `authorization: Bearer …`, or `x-api-key`. */
function keyOf(metadata: Metadata): string {
  const [authorization = ''] = metadata.get('authorization').map(String);
  const bearer = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
  const [apiKey] = metadata.get('x-api-key').map(String);
  const key = bearer ?? apiKey?.trim();
  if (key !== undefined && key !== '') return key;
  throw new AppError('unauthenticated', "send the service's ingestion key: authorization: Bearer <INGESTION_KEY>");
}

function tooSlow(): AppError {
  return new AppError('unavailable', `the call took more than ${CALL_MS / 1_000} s; send again`, {
    retryAfterSeconds: 5,
  });
}

/** A google.rpc.Status with a RetryInfo: without it exporters take RESOURCE_EXHAUSTED for final. */
function retryDetails(code: number, message: string, seconds: number): Buffer {
  const retryInfo = encodeBytes(1, encodeVarint(1, Math.min(OTLP_RETRY_SECONDS_MAX, Math.ceil(seconds))));
  const detail = Buffer.concat([encodeBytes(1, 'type.googleapis.com/google.rpc.RetryInfo'), encodeBytes(2, retryInfo)]);
  return Buffer.concat([encodeVarint(1, code), encodeBytes(2, message), encodeBytes(3, detail)]);
}
