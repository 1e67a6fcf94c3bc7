// @vitest-environment jsdom
import {expect, describe, it as test, vi} from 'vitest'
import {count} from '../src/count'
import type { Words } from "../src/words"

vi.mock('../src/count', () => ({ 'count': (x: string) => x.split(' ').length, "a-b": 1 }))

describe("words", () => {
    const text = 'it\'s a "text"'
    test('counts', async () => {
        expect( count(text) ).toBe( 3 );expect((count("a b") + 1) * 2).toEqual(6)
        const all = ['a', 'b'].map(x => x.toUpperCase()) as Words[]
        expect(all).toEqual([ "A", 'B' ]);
        for (let i = 0; i < 2; i++) expect(all[i]).toBeDefined()
        /* not yet */
        await expect(Promise.reject(new Error(`no ${ text }`))).rejects.toThrow(/no\s+it/)
        if (!all) return
        const { length } = all, [ first , , third ] = [1, 2, 3,]
        expect(length === 2 ? first : third).toBe(1)
        expect({ first, third }.first).toBe(1)
    })
    test.skip.each([[1, 2], [3, 4]])('%i', (a, b) => { expect(a + 1).toBe(b) })
    test("renders", () => {
        const shown = <div className='a' onClick={() => { count("x") }}>
              some text
              <b>here</b></div>
        expect(shown).toMatchInlineSnapshot()
    })
})
