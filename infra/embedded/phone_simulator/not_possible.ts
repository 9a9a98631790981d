/** A person or a test asked for something that the call or number is in no state for. */
export class NotPossible extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'NotPossible';
  }
}
