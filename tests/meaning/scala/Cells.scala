package org.apache.spark.sql.meaning

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.{ArrayNode, JsonNodeFactory}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Cast, EvalMode, GenericInternalRow, Literal}
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, ArrayData, GenericArrayData, MapData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import scala.jdk.CollectionConverters._

/** Values as JSON and back, without loss.
  *
  * Integers and booleans as they are, timestamps as microseconds, binary in hexadecimal, arrays and structs as lists, maps as lists of
  * pairs, and all else as the text that Spark casts it to: 0.0 and -0.0, 7 and 7.00 stay two.
  */
object Cells {
  private val make = JsonNodeFactory.instance
  private val Zone = Some("UTC")

  def row(cells: JsonNode, types: IndexedSeq[DataType]): InternalRow =
    new GenericInternalRow(types.indices.map(i => read(cells.get(i), types(i))).toArray[Any])

  def read(cell: JsonNode, kind: DataType): Any = if (cell.isNull) null else kind match {
    case ByteType => cell.intValue.toByte
    case ShortType => cell.intValue.toShort
    case IntegerType => cell.intValue
    case LongType | TimestampType => cell.longValue
    case BooleanType => cell.booleanValue
    case BinaryType => java.util.HexFormat.of.parseHex(cell.asText)
    case ArrayType(element, _) => new GenericArrayData(cell.elements.asScala.map(read(_, element)).toArray[Any])
    case struct: StructType => row(cell, struct.map(_.dataType).toIndexedSeq)
    case MapType(key, value, _) =>
      val pairs = cell.elements.asScala.toSeq
      ArrayBasedMapData(pairs.map(p => read(p.get(0), key)).toArray[Any], pairs.map(p => read(p.get(1), value)).toArray[Any])
    case _: StringType => UTF8String.fromString(cell.asText)
    case other => Cast(Literal(UTF8String.fromString(cell.asText), StringType), other, Zone, EvalMode.ANSI).eval()
  }

  def write(rows: Iterable[InternalRow], types: IndexedSeq[DataType]): ArrayNode =
    array(rows.map(r => array(types.indices.map(i => write(r.get(i, types(i)), types(i))))))

  def write(value: Any, kind: DataType): JsonNode = if (value == null) make.nullNode else (value, kind) match {
    case (number: Byte, _) => make.numberNode(number)
    case (number: Short, _) => make.numberNode(number)
    case (number: Int, IntegerType) => make.numberNode(number)
    case (number: Long, LongType | TimestampType) => make.numberNode(number)
    case (truth: Boolean, _) => make.booleanNode(truth)
    case (bytes: Array[Byte], BinaryType) => make.textNode(java.util.HexFormat.of.withUpperCase.formatHex(bytes))
    case (data: ArrayData, ArrayType(element, _)) => array(elements(data, element))
    case (data: InternalRow, struct: StructType) =>
      array(struct.indices.map(i => write(data.get(i, struct(i).dataType), struct(i).dataType)))
    case (data: MapData, MapType(key, item, _)) =>
      array(elements(data.keyArray(), key).zip(elements(data.valueArray(), item)).map { case (k, v) => array(Seq(k, v)) })
    case (text: UTF8String, _: StringType) => make.textNode(text.toString)
    case _ => make.textNode(String.valueOf(Cast(Literal(value, kind), StringType, Zone, EvalMode.LEGACY).eval()))
  }

  private def elements(data: ArrayData, kind: DataType): Seq[JsonNode] =
    (0 until data.numElements()).map(i => write(if (data.isNullAt(i)) null else data.get(i, kind), kind))

  private def array(nodes: Iterable[JsonNode]): ArrayNode = make.arrayNode.addAll(nodes.asJavaCollection)
}
