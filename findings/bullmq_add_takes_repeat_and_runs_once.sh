#!/usr/bin/env bash
# BullMQ 6: add() still takes the option `repeat`, in its types too, and runs the job once.
#
# Repeated jobs moved to job schedulers. A program that was written for an older version compiles, adds its hourly job
# without an error or a warning, sees it run at once, and never again.
set -euo pipefail
cd "$(mktemp -d)"
redis=0
trap '[ "$redis" = 0 ] || kill "$redis"; rm -rf "$PWD"' EXIT
command -v redis-server >/dev/null || apt-get install -y -qq redis-server >/dev/null
npm init -y >/dev/null
npm install --no-audit --no-fund --silent --save-exact bullmq@6.7.0 ioredis@6.0.0 >/dev/null
redis-server --port 0 --unixsocket "$PWD/redis.sock" --save '' --daemonize no >/dev/null &
redis=$!
until [ -S redis.sock ]; do sleep 0.1; done
cat >try.mjs <<'JS'
import { Queue, Worker } from 'bullmq';

const connection = { path: `${process.cwd()}/redis.sock`, maxRetriesPerRequest: null };
const ran = { byAdd: 0, byScheduler: 0 };
const queue = new Queue('ticks', { connection });
new Worker('ticks', async ({ name }) => void (ran[name] += 1), { connection });
await queue.add('byAdd', {}, { repeat: { every: 300 } });
await queue.upsertJobScheduler('ticks', { every: 300 }, { name: 'byScheduler' });
await new Promise((resolve) => setTimeout(resolve, 3_000));
console.log(`every 300 ms, within 3 s: add() with repeat ran ${ran.byAdd} time(s), a scheduler ${ran.byScheduler} times`);
process.exit(ran.byAdd === 1 && ran.byScheduler > 2 ? 0 : 1);
JS
echo "bullmq $(node -p "require('./package.json').dependencies.bullmq")"
node try.mjs
