import type { Oversized } from '../../wire/oversized.ts';
import type { ChunkReader } from '../../wire/sliced-input.ts';
import { spend } from '../../wire/slices.ts';
import { Bounded } from './bounded.ts';

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const COLON = 0x3a;

const NOTHING: Buffer = Buffer.alloc(0);
const LINE_BREAK: Buffer = Buffer.from('\n');
const BYTE_ORDER_MARK: Buffer = Buffer.from('\uFEFF');
const DATA: Buffer = Buffer.from('data:');

/** Bytes of a field's name, or of an id; longer ones are dropped. */
const LONGEST_FIELD = 4096;

export interface SseEvent {
  /** `message` where the stream does not say. */
  readonly type: string;
  /** Empty where an event only says how far the stream has come. */
  readonly data: Buffer;
  /** The last id that the stream has given, whichever event had it. */
  readonly id: string | undefined;
}

export interface SseHandlers {
  event(event: SseEvent): void;
  /** An event with more data than is kept. */
  oversized(data: Oversized): void;
  /** Gets the pause before the stream is opened again, in milliseconds. */
  retry?(milliseconds: number): void;
}

/** Reads a stream of server-sent events, cut anywhere. Each byte is searched twice and copied at most three times. */
export class SseParser implements ChunkReader {
  readonly #limit: number;
  readonly #handlers: SseHandlers;
  readonly #line: Bounded;
  readonly #data: Bounded;
  /** The line has outgrown the limit: its data goes straight on, anything else nowhere. */
  #runsOn: 'data' | 'nowhere' | undefined;
  #isFirst = true;
  #endedByReturn = false;
  #hasData = false;
  #type = '';
  #id: string | undefined;
  #hasNewId = false;
  /** The chunk that is being read: where its next line begins, and where the next ends of lines are. */
  #chunk: Buffer = NOTHING;
  #at = 0;
  #newline = -1;
  #carriage = -1;

  constructor(limit: number, handlers: SseHandlers) {
    this.#limit = limit;
    this.#handlers = handlers;
    this.#line = new Bounded(Number.MAX_SAFE_INTEGER);
    this.#data = new Bounded(limit);
  }

  /** Bytes that are kept of an event that is not complete yet. */
  get kept(): number {
    return this.#line.kept + this.#data.kept;
  }

  begin(chunk: Buffer): void {
    this.#chunk = chunk;
    this.#at = this.#endedByReturn && chunk[0] === NEWLINE ? 1 : 0;
    if (chunk.length > 0) this.#endedByReturn = false;
    this.#newline = chunk.indexOf(NEWLINE, this.#at);
    this.#carriage = chunk.indexOf(RETURN, this.#at);
  }

  /** Reads one line. Returns false where the chunk holds no more whole ones. */
  next(): boolean {
    const [chunk, start, newline, carriage] = [this.#chunk, this.#at, this.#newline, this.#carriage];
    if (newline < 0 && carriage < 0) {
      this.#chunk = NOTHING;
      this.#at = 0;
      if (start < chunk.length) this.#keep(chunk.subarray(start));
      return false;
    }
    const isReturn = newline < 0 || (carriage >= 0 && carriage < newline);
    const end = isReturn ? carriage : newline;
    this.#at = end + 1;
    if (isReturn && this.#at === chunk.length) this.#endedByReturn = true;
    if (isReturn && newline === this.#at) this.#at += 1;
    if (isReturn) this.#carriage = chunk.indexOf(RETURN, this.#at);
    if (newline >= 0 && newline < this.#at) this.#newline = chunk.indexOf(NEWLINE, this.#at);
    spend(0, end - start);
    this.#finish(chunk.subarray(start, end));
    return true;
  }

  #keep(part: Buffer): void {
    if (this.#runsOn === 'data') return this.#data.add(part);
    if (this.#runsOn === 'nowhere') return;
    this.#line.add(part);
    if (this.#line.length > this.#limit + DATA.length + 1) this.#letRun();
  }

  #letRun(): void {
    const line = this.#takeLine();
    this.#runsOn = line.indexOf(DATA) === 0 ? 'data' : 'nowhere';
    if (this.#runsOn === 'data') this.#read(line);
  }

  #finish(last: Buffer): void {
    if (this.#runsOn !== undefined) {
      this.#keep(last);
      this.#runsOn = undefined;
    } else if (this.#line.length === 0 && !this.#isFirst) this.#read(last);
    else {
      this.#line.add(last);
      this.#read(this.#takeLine());
    }
  }

  #takeLine(): Buffer {
    const line = this.#line.take() as Buffer;
    const hasMark = this.#isFirst && line.indexOf(BYTE_ORDER_MARK) === 0;
    this.#isFirst = false;
    return hasMark ? line.subarray(BYTE_ORDER_MARK.length) : line;
  }

  #read(line: Buffer): void {
    if (line.length === 0) return this.#dispatch();
    const colon = line[4] === COLON ? 4 : line.indexOf(COLON);
    const nameEnd = colon < 0 ? line.length : colon;
    if (nameEnd === 0 || nameEnd > LONGEST_FIELD) return;
    const valueAt = colon < 0 ? line.length : line[colon + 1] === SPACE ? colon + 2 : colon + 1;
    this.#field(line.toString('latin1', 0, nameEnd), line.subarray(valueAt));
  }

  #field(name: string, value: Buffer): void {
    if (name === 'data') return this.#addData(value);
    if (value.length > LONGEST_FIELD) return;
    // One character a byte, as an id must be to go back in a header.
    const text = value.toString('latin1');
    if (name === 'event') this.#type = text;
    else if (name === 'retry' && /^\d+$/.test(text)) this.#handlers.retry?.(Number(text));
    else if (name === 'id' && !text.includes('\0')) {
      this.#id = text;
      this.#hasNewId = true;
    }
  }

  #addData(value: Buffer): void {
    if (this.#hasData) this.#data.add(LINE_BREAK);
    this.#hasData = true;
    this.#data.add(value);
  }

  /** An id counts with the blank line after it: half an event must be sent again. */
  #dispatch(): void {
    const [type, says] = [this.#type || 'message', this.#hasData || this.#hasNewId];
    const data = this.#data.take();
    this.#type = '';
    this.#hasData = false;
    this.#hasNewId = false;
    if (!says) return;
    if (Buffer.isBuffer(data)) return this.#handlers.event({ type, data, id: this.#id });
    this.#handlers.oversized(data);
    this.#handlers.event({ type, data: Buffer.alloc(0), id: this.#id });
  }
}
