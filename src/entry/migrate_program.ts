import { migrateStores } from '#entry/migrate_stores.ts';
import { runProgram } from '#entry/program.ts';

/** Runs `tocsin migrate` as a separate program, for `npm start`: it loads nothing of the other commands. */
await runProgram(migrateStores);
