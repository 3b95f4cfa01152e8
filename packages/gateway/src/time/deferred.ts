/** A promise that is settled from outside; the first word counts. */
export class Deferred<T> {
  readonly promise: Promise<T>;
  isResolved = false;
  #resolve: (value: T) => void = () => {};
  #reject: (error: Error) => void = () => {};

  constructor() {
    this.promise = new Promise<T>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  resolve(value: T): void {
    this.isResolved = true;
    this.#resolve(value);
  }

  reject(error: Error): void {
    this.#reject(error);
  }
}
