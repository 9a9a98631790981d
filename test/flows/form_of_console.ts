import type { OpenablePage } from '#test/browser/sample_pages.ts';

/** A form of the console: how to come to it, what it lacks when it is sent as it is, and what the server may refuse. */
export interface FormOfConsole {
  readonly name: string;
  readonly opening: OpenablePage;
  /** The card that holds it, where it is no dialog. */
  readonly region?: string;
  /** Emptied before it is sent incomplete. */
  readonly clear?: readonly string[];
  /** Fields that the form then reports as missing, in their order; none where it cannot be incomplete. */
  readonly missing?: readonly string[];
  /** Makes it complete: texts by label, and choices from lists that are searched. */
  readonly fill?: Readonly<Record<string, string>>;
  readonly pick?: Readonly<Record<string, string>>;
  readonly send: string;
  /** The end of the path that it is sent to; absent for a part of what is saved as a whole, which closes once it is complete. */
  readonly to?: string;
  /** The fields that the server refuses, by its own names for them, in the order of the form. */
  readonly refused: Readonly<Record<string, string>>;
  /** Whether entered values are there again after a reload. */
  readonly keepsDraft?: true;
}
