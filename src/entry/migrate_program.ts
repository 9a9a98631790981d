import { migrateStores } from '#entry/migrate_stores.ts';
import { runProgram } from '#entry/program.ts';

/** `tocsin migrate` as a program of its own, for `npm start`: it loads nothing of the other commands. */
await runProgram(migrateStores);
