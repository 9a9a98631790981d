/** A person or a test asked for something that the state of the call or number does not allow. */
export class NotPossible extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'NotPossible';
  }
}
