"""Parsing the lines of edge lists, compiled by Numba."""

from __future__ import annotations

from numba import njit

SOUND, NO_VERTEX, TOO_LARGE, NO_NUMBER, SELF_LOOP, COLUMNS = range(6)
"""What is wrong with a line."""

CODE, LINE, BEGIN, END, WIDTH = range(5)
"""Entries of the state: what is wrong, where; columns of the lines, 0 = not known yet."""

NEWLINE, TAB, RETURN, BLANK, HASH, PERCENT, COMMA, DOT = 10, 9, 13, 32, 35, 37, 44, 46
NOUGHT, NINE, UPPER_E, LOWER_E, PLUS, MINUS = 48, 57, 69, 101, 43, 45
MOST = 10**15
MOST_DIGITS = 10**17


@njit(cache=True, nogil=True)
def _is_gap(byte):
    return byte in (BLANK, TAB, RETURN, COMMA)


@njit(cache=True, nogil=True)
def _is_digit(byte):
    return NOUGHT <= byte <= NINE


@njit(cache=True, nogil=True)
def _decimal(data, begin, end):
    """Return the number written in these bytes; -1 = they are not a number of 0 or more."""
    mantissa, power, digits = 0, 0, 0
    after_dot = False
    position = begin + 1 if data[begin] == PLUS else begin
    while position < end and (_is_digit(data[position]) or data[position] == DOT):
        if data[position] == DOT:
            if after_dot:
                return -1.0
            after_dot = True
        else:
            digits += 1
            if mantissa < MOST_DIGITS:
                mantissa = mantissa * 10 + (data[position] - NOUGHT)
                power -= 1 if after_dot else 0
            elif not after_dot:
                power += 1
        position += 1
    if not digits:
        return -1.0
    if position < end:
        if data[position] != LOWER_E and data[position] != UPPER_E:
            return -1.0
        position += 1
        sign = 1
        if position < end and (data[position] == PLUS or data[position] == MINUS):
            sign = -1 if data[position] == MINUS else 1
            position += 1
        if position == end or end - position > 3:
            return -1.0
        exponent = 0
        while position < end:
            if not _is_digit(data[position]):
                return -1.0
            exponent = exponent * 10 + (data[position] - NOUGHT)
            position += 1
        power += sign * exponent
    if power >= 0:
        return mantissa * 10.0**power
    return mantissa / 10.0 ** (-power)


@njit(cache=True, nogil=True)
def parse(data, size, state, ends, weights):
    """Read whole lines; return how many edges they hold. Lines begin with vertex, vertex."""
    count = 0
    position = 0
    while position < size:
        state[LINE] += 1
        while _is_gap(data[position]):
            position += 1
        state[BEGIN], state[END] = position, position
        if data[position] == HASH or data[position] == PERCENT:
            while data[position] != NEWLINE:
                position += 1
        if data[position] == NEWLINE:
            position += 1
            continue
        column = 0
        weights[count] = 1.0
        while data[position] != NEWLINE:
            begin = position
            number = 0
            whole = True
            while data[position] != NEWLINE and not _is_gap(data[position]):
                whole = whole and _is_digit(data[position])
                if number <= MOST:
                    number = number * 10 + (data[position] - NOUGHT)
                position += 1
            state[BEGIN], state[END] = begin, position
            if column < 2:
                if not whole:
                    state[CODE] = NO_VERTEX
                    return count
                if number > MOST:
                    state[CODE] = TOO_LARGE
                    return count
                ends[count, column] = number
            elif column == 2:
                weight = float(number)
                if not whole or number > MOST:
                    weight = _decimal(data, begin, position)
                if not weight >= 0.0:  # nan too: 0e999 is 0 times infinity
                    state[CODE] = NO_NUMBER
                    return count
                if weight > MOST:
                    state[CODE] = TOO_LARGE
                    return count
                weights[count] = weight
            column += 1
            while _is_gap(data[position]):
                position += 1
        position += 1
        if state[WIDTH] == 0:
            state[WIDTH] = column
        if column != state[WIDTH] or column < 2 or column > 3:
            state[CODE] = COLUMNS
            state[BEGIN] = state[END] = 0
            return count
        if ends[count, 0] == ends[count, 1]:
            state[CODE] = SELF_LOOP
            return count
        count += 1
    return count
