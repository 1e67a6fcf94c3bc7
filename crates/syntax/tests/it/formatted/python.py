"""Tests of words.

    They are many.
"""
import os
import sys
from unittest import mock
import pytest
from words import count,  lines , words

@pytest.fixture
def text( ) :
    return 'it\'s a "text"'

@pytest.mark.parametrize('given,wanted', [('a b',2), ('', 0),
    ('x  y',2)])
def test_counts(given,wanted) :
        #how many
        assert count( given )==wanted, f'not {wanted}'

class TestLines :
    def test_lines(self, text):
        assert lines( text )==[ 'it\'s a "text"' ]
        assert (lines("a\nb")) == ["a", "b",]; assert words(
            "a b", ) == {'a' : 1,
            'b':1}
        with pytest.raises( ValueError, match = r'no\s+text' ) :
            lines(None)
        if (sys.version_info >= (3, 8) and
            os.name == 'posix'): return
    async def test_later( self ):
        result = await (mock.Mock())
        assert not (result is
           None)
        assert [ word for word in words(
            'a') ] == list( ('a',) )
