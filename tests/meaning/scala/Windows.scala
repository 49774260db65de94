package org.apache.spark.sql.meaning

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.plans.logical.Window
import org.apache.spark.sql.meaning.Evaluator._

/** Window functions, each over the frame of each row: quadratic, and plain. */
object Windows {
  private type Value = IndexedSeq[InternalRow] => Int => Any // of the rows of a partition in order, of the row at an index

  def rows(window: Window): Rows = {
    val input = window.child.output
    val order = ordering(window.orderSpec.map(bound(_, input).asInstanceOf[SortOrder]))
    val calls = window.windowExpressions.map(e => e.collectFirst { case call: WindowExpression => call }.get)
    grouped(Evaluator.rows(window.child), window.partitionSpec, input).values.toIndexedSeq.flatMap { case (_, found) =>
      val members = found.toIndexedSeq.sorted(order)
      val columns = calls.map(function(_, window, order, members.size)(members))
      members.indices.map(i => row(values(members(i), input) ++ columns.map(_(i))))
    }
  }

  private def ordering(by: Seq[SortOrder]): Ordering[InternalRow] = new InterpretedOrdering(by)

  private def function(call: WindowExpression, window: Window, order: Ordering[InternalRow], size: Int): Value = {
    val input = window.child.output
    def overFrames(evaluate: Seq[InternalRow] => Any): Value = {
      val frame = call.windowSpec.frameSpecification.asInstanceOf[SpecifiedWindowFrame]
      val (first, last) = (bounds(frame.frameType, frame.lower, window, order, lower = true),
        bounds(frame.frameType, frame.upper, window, order, lower = false))
      members => i => evaluate(members.slice(first(members)(i), last(members)(i) + 1))
    }
    call.windowFunction match {
      case aggregate: AggregateExpression => overFrames(Aggregation.aggregator(aggregate, input))
      case offset: FrameLessOffsetWindowFunction => shifted(offset, input)
      case function: AggregateWindowFunction =>
        overFrames(Aggregation.declarative(function, input, _.transform {
          case n: AttributeReference if n.exprId == SizeBasedWindowFunction.n.exprId => Literal(size)
        }))
    }
  }

  /** The index of the first, or the last, row of a frame. */
  private def bounds(kind: FrameType, bound: Expression, window: Window, order: Ordering[InternalRow],
                     lower: Boolean): IndexedSeq[InternalRow] => Int => Int = members => i => (kind, bound) match {
    case (_, UnboundedPreceding) => 0
    case (_, UnboundedFollowing) => members.size - 1
    case (RowFrame, CurrentRow) => i
    case (RowFrame, offset) => i + offset.eval().asInstanceOf[Int]
    case (RangeFrame, CurrentRow) =>
      if (lower) members.indexWhere(order.compare(_, members(i)) == 0) else members.lastIndexWhere(order.compare(_, members(i)) == 0)
    case (RangeFrame, offset) =>
      val SortOrder(value, direction, nulls, _) = window.orderSpec.head
      val by = Evaluator.bound(value, window.child.output)
      val shift = if (direction == Ascending) offset else UnaryMinus(offset)
      val limit = row(Seq(Add(by, Cast(shift, by.dataType)).eval(members(i))))
      val compared = ordering(Seq(SortOrder(BoundReference(0, by.dataType, nullable = true), direction, nulls, Seq())))
      val at = members.map(each => compared.compare(row(Seq(by.eval(each))), limit))
      if (lower) { val found = at.indexWhere(_ >= 0); if (found < 0) members.size else found } else at.lastIndexWhere(_ <= 0)
  }

  /** LAG and LEAD. */
  private def shifted(call: FrameLessOffsetWindowFunction, input: Seq[Attribute]): Value = {
    val (value, default) = (bound(call.input, input), bound(call.default, input))
    val offset = call.offset.eval().asInstanceOf[Int]
    members => i => {
      val side = if (offset < 0) (i - 1 to 0 by -1) else (i + 1 until members.size)
      val known = side.filter(at => !call.ignoreNulls || value.eval(members(at)) != null)
      if (offset == 0) value.eval(members(i))
      else known.lift(math.abs(offset) - 1).fold(default.eval(members(i)))(at => value.eval(members(at)))
    }
  }
}
